/** How a version is referenced: the latest, by number, by digest, or by alias. */
export type VersionName =
  | { readonly by: 'latest' }
  | { readonly by: 'index'; readonly index: number }
  | { readonly by: 'digest'; readonly digest: string }
  | { readonly by: 'alias'; readonly alias: string }

const INDEX = /^v(\d+)$/
const DIGEST = /^[A-Za-z0-9]{43}$/

/** The form of the text alone decides which kind it is. */
export const versionName = (text: string): VersionName => {
  if (text === 'latest') return { by: 'latest' }
  const digits = INDEX.exec(text)?.[1]
  // Clamps a number that is too large for any version.
  if (digits !== undefined) return { by: 'index', index: Math.min(Number(digits), Number.MAX_SAFE_INTEGER) }
  return DIGEST.test(text) ? { by: 'digest', digest: text } : { by: 'alias', alias: text }
}
