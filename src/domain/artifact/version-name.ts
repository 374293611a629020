const NAME = /^v(0|[1-9]\d{0,9})$/

/** What people call a version: `v0`, `v1` and so on. */
export const versionName = (version: number): string => `v${version}`

/** The number in such a name; undefined for anything else, which may be an alias. */
export const versionIn = (name: string): number | undefined => {
  const digits = NAME.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
