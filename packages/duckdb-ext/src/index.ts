export { type ClientInfo } from "./attachment.js";
export { maxFrameBytes } from "./limits.js";
export { LakeService, type LakeStatus } from "./lake-service.js";
export type { LakeOpener, LakeSettings, OpenedLake, ReadableLake, WritableLake } from "./lake.js";
export { type LinkOptions, ServiceLink } from "./remote/service-link.js";
export { ServiceClient, unexpected } from "./service-client.js";
export { serveConnection, type ServiceHost } from "./service-connection.js";
export { type LogFields, type LogLevel, logLevels, type ServiceLog } from "./service-log.js";
export { StoreOpener } from "./store-opener.js";
export { FrameSplitter } from "./wire/frame-splitter.js";
export {
  decodeFrame,
  encodeFrame,
  type ExceptionClass,
  type Message,
  type MessageName,
  type MessageOf,
  protocolMagic,
  protocolVersion,
} from "./wire/messages.js";
export { ProtocolError } from "./wire/protocol-error.js";
