import * as E from 'fp-ts/lib/Either.js'
import { decode, type Codec } from '../../../kernel/codec/codec.js'
import type { Problem } from '../../../kernel/codec/problem.js'

/** Decodes with the first problem as text: `<field>: <what it should be>`, the field below `place`. */
export const decoded = <A>(
  codec: Codec<A>,
  input: unknown,
  place: readonly string[] = [],
): E.Either<string, A> => E.mapLeft(firstProblem(place))(decode(codec)(input))

const firstProblem =
  (place: readonly string[]) =>
  ([problem]: readonly Problem[]): string => {
    if (problem === undefined) return 'invalid'
    const field = [...place, ...problem.loc].join('.')
    return field === '' ? problem.msg : `${field}: ${problem.msg}`
  }
