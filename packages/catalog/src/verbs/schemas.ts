import { type SchemaId, AlreadyExistsError, ConstraintError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { quoted } from "../model/error-text.js";
import { checkId, checkKnown, checkPathName, type Names } from "./arguments.js";
import { removeOptions } from "./options.js";
import { requireSchema } from "./require.js";

/** The schema that every catalog is made with. */
const mainSchemaId = 0n;

export interface CreateSchemaArguments {
  /** Also the schema's folder: no `/` or `\`, not `.` or `..`. */
  readonly name: string;
}

const createSchemaNames: Names<CreateSchemaArguments> = { name: true };

export interface DropSchemaArguments {
  readonly schema: SchemaId;
}

const dropSchemaNames: Names<DropSchemaArguments> = { schema: true };

/** Creates an empty schema. `already_exists` when the name is taken, `invalid_argument` when it is not fit for a path. */
export function createSchema(draft: Draft, args: CreateSchemaArguments): SchemaId {
  const name = checkPathName(checkKnown(args, createSchemaNames, "arguments").name, "name");
  const holder = draft.schemasLike(name)[0];
  if (holder !== undefined) throw new AlreadyExistsError(`schema ${quoted(holder.schemaName)}`);
  const schemaId = draft.allocateCatalogId();
  draft.put("schema", [schemaId], {
    schemaId,
    schemaUuid: draft.newUuid(),
    beginSnapshot: draft.snapshotId,
    endSnapshot: undefined,
    schemaName: name,
    path: `${name}/`,
    pathIsRelative: true,
  });
  draft.record({ op: "create_schema", name });
  return schemaId as SchemaId;
}

/** Drops an empty schema with its options. `constraint` for `main` and for a schema that holds anything. */
export function dropSchema(draft: Draft, args: DropSchemaArguments): void {
  const schemaId = checkId(checkKnown(args, dropSchemaNames, "arguments").schema, "schema");
  requireSchema(draft, schemaId);
  if (schemaId === mainSchemaId) {
    throw new ConstraintError('schema 0 ("main") cannot be dropped', { remedy: "Drop the objects in it instead." });
  }
  if (!draft.isSchemaEmpty(schemaId)) {
    throw new ConstraintError(`schema ${schemaId} is not empty`, {
      remedy: "Drop or move its tables, views and macros first.",
    });
  }
  draft.remove("schema", [schemaId]);
  removeOptions(draft, { schema: schemaId as SchemaId });
  draft.record({ op: "drop_schema", schemaId });
}
