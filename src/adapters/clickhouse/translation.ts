import { ClickHouseError } from '@clickhouse/client'
import { ClickHouseUnavailable, ReadTooExpensive, RowsRefused } from '../../domain/ports/clickhouse.js'
import { ABOUT_THE_ROWS, BUSY, MEMORY_LIMIT_EXCEEDED, REFUSING, TOO_LONG } from './error-codes.js'

/** What a statement was for: only an insert can be refused for its rows, only a read be too expensive. */
export type Work = 'read' | 'insert' | 'command'

export type Translation = (error: unknown, work: Work) => unknown

/** The port's error for an error of the engine; one that nobody foresaw stays what it is. */
export const engineError: Translation = (error, work) => {
  if (!(error instanceof Error) || error instanceof ClickHouseUnavailable) return error
  const code = codeOf(error)
  const of = (says: string) => `${says}: ${typeOf(error)} (${code})`
  if (work === 'insert' && ABOUT_THE_ROWS.has(code))
    return new RowsRefused(`ClickHouse error ${code}`, { cause: error })
  if (work === 'read' && TOO_LONG.has(code)) return new ReadTooExpensive('time')
  if (work === 'read' && code === MEMORY_LIMIT_EXCEEDED && !isOfTheServer(error.message))
    return new ReadTooExpensive('memory')
  if (REFUSING.has(code))
    return new ClickHouseUnavailable('refusing', of('ClickHouse rejected the request'), {
      cause: error,
      code,
    })
  if (BUSY.has(code) || TOO_LONG.has(code) || code === MEMORY_LIMIT_EXCEEDED)
    return new ClickHouseUnavailable('busy', of('ClickHouse failed'), { cause: error, code })
  return error
}

/**
 * The same for a server: what carries no code of ClickHouse's came from the way there, be it the network, TLS, a proxy
 * or an answer that broke off.
 */
export const serverError: Translation = (error, work) => {
  const translated = engineError(error, work)
  if (translated !== error || !(error instanceof Error) || error instanceof ClickHouseError) return translated
  if (error instanceof ClickHouseUnavailable || error instanceof TypeError) return error
  // Reads in flight are aborted when the server is away, so that one whose time ends has a server that works on it.
  if (work === 'read' && error.message === TIME_OUT) return new ReadTooExpensive('time')
  return new ClickHouseUnavailable('away', unanswered(error) ?? otherAnswer(error), { cause: error })
}

/** The client's own messages for a time-out, and for a statement that was ended because nobody is there. */
const TIME_OUT = 'Timeout error.'
const NO_ANSWER = new Set([TIME_OUT, 'The user aborted a request.'])

/** Why nobody answered, in a few words; undefined where somebody did, whoever it was. */
export const unanswered = (error: Error): string | undefined => {
  if (error instanceof ClickHouseError) return undefined
  if (NO_ANSWER.has(error.message)) return 'ClickHouse cannot be reached (timeout)'
  const code = codeOf(error)
  return code === '' ? undefined : `ClickHouse cannot be reached (${code})`
}

/** Of what a proxy answers, its status alone. */
const otherAnswer = (error: Error): string => {
  if (error instanceof SyntaxError) return 'ClickHouse cannot be reached (truncated response)'
  const status = /\b[45]\d\d [A-Z][A-Za-z -]{2,40}/.exec(error.message)?.[0].trim() ?? 'unknown status'
  return `ClickHouse cannot be reached (another server responded: ${status})`
}

/** The memory of the whole server or user ran out, which says nothing about this read. */
const isOfTheServer = (message: string): boolean => /\(total\)|\(for user\)|user memory/i.test(message)

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')

const typeOf = (error: Error): string => (error instanceof ClickHouseError ? (error.type ?? '') : error.name)
