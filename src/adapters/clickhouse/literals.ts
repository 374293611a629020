import { formatQueryParams } from '@clickhouse/client-common'
import type { SqlParameter, SqlParameters } from '../../kernel/ports/clickhouse.js'

/** Text in quotes, which is skipped, or a placeholder, `{name:Type}`. */
const TOKENS =
  /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|"(?:[^"\\]|\\.)*"|\{([A-Za-z_]\w*):((?:[^{}']|'[^']*')+)\}/gs

/**
 * A statement with its parameters as literals, in place of their placeholders. Parameters that the engine puts in their
 * places itself take 0.2 ms a kilobyte, literals a tenth of that, and a server limits their size.
 */
export const withLiterals = (sql: string, parameters: SqlParameters): string =>
  sql.replaceAll(TOKENS, (token, name?: string, type?: string) => {
    if (name === undefined || type === undefined) return token
    const value = parameters[name]
    if (value === undefined) throw new Error(`the parameter ${name} of a statement has no value`)
    return literalOf(value, type)
  })

/** A list is a cast of its text, which takes half the time of a list of literals. */
const literalOf = (value: SqlParameter, type: string): string => {
  if (value === null) return `CAST(NULL, ${quoted(type)})`
  if (type === 'String' && typeof value === 'string') return quoted(value)
  return `CAST(${quoted(formatQueryParams({ value }))}, ${quoted(type)})`
}

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
