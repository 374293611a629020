import type { Operand } from '../../domain/query/expression.js'
import { Failure } from '../../application/failure.js'

/**
 * The ids in a purge query. Only ids are allowed, so that no query deletes more than it names. `what` begins the error
 * message for other queries.
 */
export const namedIds = (operand: Operand, what: string): readonly string[] => {
  const idOf = (literal: Operand): string => {
    if ('$literal' in literal && typeof literal.$literal === 'string') return literal.$literal
    throw notByIds(what)
  }
  if ('$or' in operand) return operand.$or.flatMap((one) => namedIds(one, what))
  if ('$eq' in operand && isId(operand.$eq[0])) return [idOf(operand.$eq[1])]
  if ('$in' in operand && isId(operand.$in[0])) return operand.$in[1].map(idOf)
  throw notByIds(what)
}

const isId = (operand: Operand): boolean => '$getField' in operand && operand.$getField === 'id'

const notByIds = (what: string): Failure =>
  new Failure(
    'bad-request',
    `${what} only purged by id: query should be $eq or $in on the field id, or an $or of these.`,
  )
