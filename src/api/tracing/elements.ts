import * as E from 'fp-ts/lib/Either.js'
import { decode, type Codec } from '../../domain/codec/codec.js'
import type { Problem } from '../../domain/codec/problem.js'
import { isJsonObject, type Json } from '../../domain/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../domain/json/measure.js'
import { wellFormed } from '../../domain/json/well-formed.js'
import type { JsonBody } from '../http/read-json.js'
import { invalid } from '../failure.js'

/** The elements of a batch as they came, from the envelope `{batch: [...]}`, which is strict. */
export const elementsOf = (
  { value, mayBeIllFormed }: JsonBody,
  extras: 'refused' | 'tolerated',
): readonly BatchElement[] => {
  const problems = envelopeProblems(value, extras)
  if (problems.length > 0) throw invalid(problems)
  const { batch } = value as { readonly batch: readonly Json[] }
  return batch.map((raw, index) => ({ index, raw, mayBeIllFormed }))
}

export interface BatchElement {
  /** The element's place in the batch. */
  readonly index: number
  readonly raw: Json
  readonly mayBeIllFormed: boolean
}

/** Levels that the envelope itself takes. */
const ENVELOPE_DEPTH = 2

export const decodeElement =
  <A>(codec: Codec<A>) =>
  ({ index, raw, mayBeIllFormed }: BatchElement): E.Either<Problem, A> => {
    const at = (problem: Problem): Problem => ({ ...problem, loc: ['body', 'batch', index, ...problem.loc] })
    if (deeperThan(raw, MAX_DEPTH - ENVELOPE_DEPTH))
      return E.left(
        at({ loc: [], type: 'recursion_depth', msg: `Input should nest at most ${MAX_DEPTH} levels deep` }),
      )
    const decoded = decode(codec)(mayBeIllFormed ? wellFormed(raw) : raw)
    return E.isRight(decoded) ? decoded : E.left(at(decoded.left[0]!))
  }

const envelopeProblems = (value: Json, extras: 'refused' | 'tolerated'): readonly Problem[] => {
  if (!isJsonObject(value))
    return [
      { loc: ['body'], type: 'model_attributes_type', msg: 'Input should be a valid dictionary or object' },
    ]
  const problems = Object.keys(value)
    .filter((key) => key !== 'batch' && extras === 'refused')
    .map((key) => ({ loc: ['body', key], type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }))
  if (!Object.hasOwn(value, 'batch'))
    return [{ loc: ['body', 'batch'], type: 'missing', msg: 'Field required' }, ...problems]
  if (!Array.isArray(value['batch']))
    return [{ loc: ['body', 'batch'], type: 'list_type', msg: 'Input should be a valid list' }, ...problems]
  return problems
}
