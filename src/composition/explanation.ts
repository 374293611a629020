import { OperatorError } from '../domain/ports/operator-error.js'

/** Why the program cannot start or stop: a message for the operator, or a stack for an unexpected error. */
export const explanation = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof OperatorError) return error.message
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
