import { OperatorError } from '../kernel/ports/operator-error.js'

/** Why the program cannot start or stop: a message for the operator, or a stack for an unexpected error. */
export const startupMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof OperatorError) return error.message
  if (error.name === 'ChdbConnectionError')
    return (
      `TALLYTREE_DATA_DIR: the engine cannot open its files; another process may be using them (${error.message}); ` +
      'if they are corrupt, delete clickhouse/ in the data directory; it is rebuilt from the log'
    )
  return systemMessage(error) ?? error.stack ?? error.message
}

/** Errors of the operating system and of SQLite. */
const systemMessage = (error: Error & { readonly syscall?: unknown; readonly code?: unknown }) => {
  const { name, message, syscall } = error
  if (syscall !== undefined) return `TALLYTREE_DATA_DIR: cannot access a file in it (${message})`
  if (name === 'SqliteError')
    return `TALLYTREE_DATA_DIR: cannot use a database in it (${String(error.code)}: ${message})`
  return undefined
}
