/** The ways to name a version of an object: the newest, by number, by its content, or by an alias. */
export type VersionName =
  | { readonly by: 'latest' }
  | { readonly by: 'index'; readonly index: number }
  | { readonly by: 'digest'; readonly digest: string }
  | { readonly by: 'alias'; readonly alias: string }

const INDEX = /^v(\d+)$/
const DIGEST = /^[A-Za-z0-9]{43}$/

/** Tells the ways apart by the form of the text alone. */
export const versionName = (text: string): VersionName => {
  if (text === 'latest') return { by: 'latest' }
  const digits = INDEX.exec(text)?.[1]
  // A number that no version can have is past the last one.
  if (digits !== undefined) return { by: 'index', index: Math.min(Number(digits), Number.MAX_SAFE_INTEGER) }
  return DIGEST.test(text) ? { by: 'digest', digest: text } : { by: 'alias', alias: text }
}
