const NAME = /^v(0|[1-9]\d{0,9})$/

/** The display name of a version: `v0`, `v1` and so on. */
export const versionName = (version: number): string => `v${version}`

/** The number in a version name; undefined for any other text, which may be an alias. */
export const versionIn = (name: string): number | undefined => {
  const digits = NAME.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
