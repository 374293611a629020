/**
 * Ids name what they are of, so that reading them needs no index. They are base64 of ASCII without `/` and `+`, because
 * clients quote ids in addresses only partly.
 */
type Kind = 'Run' | 'Artifact' | 'Manifest' | 'Collection' | 'Membership' | 'File'

export const idOf = (kind: Kind, ...parts: readonly string[]): string =>
  Buffer.from([kind, ...parts.map(encoded)].join(':')).toString('base64')

/** `~` may end in a `/` or `+` of base64. */
const encoded = (part: string): string => encodeURIComponent(part).replaceAll('~', '%7E')

/** The parts of an id of this kind; undefined if it is none. */
export const partsOfId = (kind: Kind, id: string): readonly string[] | undefined => {
  const [named, ...parts] = Buffer.from(id, 'base64').toString('latin1').split(':')
  if (named !== kind) return undefined
  try {
    return parts.map(decodeURIComponent)
  } catch {
    return undefined
  }
}
