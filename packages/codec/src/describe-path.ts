/** A path or location as messages quote it: without the credentials that a URL may carry by mistake. */
export function describePath(path: string): string {
  return JSON.stringify(path.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@]*@/iu, "$1***@"));
}
