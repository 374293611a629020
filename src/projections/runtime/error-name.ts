/** The kind of an error; its message may quote rows. */
export const errorName = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? `${error.name} ${String(error.code)}` : error.name
}
