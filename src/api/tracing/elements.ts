import * as E from 'fp-ts/lib/Either.js'
import { decode, leaf, type Codec } from '../../domain/codec/codec.js'
import type { Problem } from '../../domain/codec/problem.js'
import { closed, open } from '../../domain/codec/struct.js'
import type { Json } from '../../domain/json/json.js'
import { deeperThan, MAX_DEPTH } from '../../domain/json/measure.js'
import { wellFormed } from '../../domain/json/well-formed.js'
import type { JsonBody } from '../http/read-json.js'
import { Failure, invalidBody } from '../failure.js'

const anyList = leaf<readonly Json[]>(
  'list',
  (u): u is readonly Json[] => Array.isArray(u),
  { type: 'list_type', msg: 'Input should be a valid list' },
  { type: 'array' },
)

const ENVELOPES = {
  refused: closed('Batch', { required: { batch: anyList } }),
  tolerated: open('Batch', { required: { batch: anyList } }),
} as const

/**
 * An element of a few bytes takes a kilobyte of memory, even if it is refused. The largest batches of SDKs, 10 MiB,
 * have about half as many.
 */
export const MAX_ELEMENTS = 100_000

/** Splits the strict envelope `{batch: [...]}` into undecoded elements. */
export const elementsOf = (
  { value, mayBeIllFormed }: JsonBody,
  extras: 'refused' | 'tolerated',
): readonly BatchElement[] => {
  const envelope = decode(ENVELOPES[extras])(value)
  if (E.isLeft(envelope)) throw invalidBody(envelope.left)
  const { batch } = envelope.right
  if (batch.length > MAX_ELEMENTS)
    throw new Failure(
      'too-large',
      `The batch exceeds the limit of ${MAX_ELEMENTS} elements. Split it into smaller batches.`,
    )
  return batch.map((raw, index) => ({ index, raw, mayBeIllFormed }))
}

export interface BatchElement {
  /** The index in the batch. */
  readonly index: number
  readonly raw: Json
  readonly mayBeIllFormed: boolean
}

/** The nesting depth of the envelope. */
const ENVELOPE_DEPTH = 2

export const decodeElement = <A>(codec: Codec<A>) => {
  const decodeAs = decode(codec)
  return ({ index, raw, mayBeIllFormed }: BatchElement): E.Either<Problem, A> => {
    if (deeperThan(raw, MAX_DEPTH - ENVELOPE_DEPTH)) return E.left(inBatch(index, TOO_DEEP))
    const decoded = decodeAs(mayBeIllFormed ? wellFormed(raw) : raw)
    return E.isRight(decoded) ? decoded : E.left(inBatch(index, decoded.left[0]!))
  }
}

const TOO_DEEP: Problem = {
  loc: [],
  type: 'recursion_depth',
  msg: `Input should have at most ${MAX_DEPTH} levels of nesting`,
}

const inBatch = (index: number, problem: Problem): Problem => ({
  ...problem,
  loc: ['body', 'batch', index, ...problem.loc],
})
