const MENDABLE = [
  'ConfigurationError',
  'UnusableBootstrapKey',
  'UnusableMasterKeys',
  'SecretsUnavailable',
  'StoreUnavailable',
  'ClickHouseUnavailable',
  'NewerDatabase',
  'CannotListen',
  'TooFewOpenFiles',
]

/** Says why the program cannot go on: what an operator can mend in a sentence, anything else with its stack. */
export const explanation = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (MENDABLE.includes(error.name)) return error.message
  if (error.name === 'ChdbConnectionError')
    return (
      `TALLYTREE_DATA_DIR: the engine cannot open its files, as when another process uses them (${error.message}); ` +
      'if they are spoilt, remove clickhouse/ there: it is made anew from the log'
    )
  return ofSystem(error) ?? error.stack ?? error.message
}

/** What the operating system, or a file of SQLite, refuses. */
const ofSystem = (error: Error & { readonly syscall?: unknown; readonly code?: unknown }) => {
  const { name, message, syscall } = error
  if (syscall !== undefined) return `TALLYTREE_DATA_DIR: a file in it cannot be used (${message})`
  if (name === 'SqliteError')
    return `TALLYTREE_DATA_DIR: a database in it cannot be used (${String(error.code)}: ${message})`
  return undefined
}
