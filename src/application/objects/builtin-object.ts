import * as E from 'fp-ts/lib/Either.js'
import { decode } from '../../kernel/codec/codec.js'
import type { Problem } from '../../kernel/codec/problem.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { ScoringTools } from '../../kernel/ports/scoring-tools.js'
import { builtinClasses } from '../../domain/objects/builtin-classes.js'
import { classesOf, ownClassOf } from '../../domain/objects/classes.js'
import { Failure, invalidBody } from '../failure.js'

const VALUE = ['obj', 'val']

/** Each object may become one of a class with many defaults. */
const MAX_OBJECTS = 10_000

/**
 * Checks the value of an object against the built-in class that the request names, and completes it. A value that is
 * already serialised with its classes is checked, but not changed, because its client knows its digest.
 */
export const builtinObject = (tools: Pick<ScoringTools, 'compileSchema'>) => {
  const classes = builtinClasses(tools)
  return (val: Json, className: string | null): Json => {
    if (className === null) return val
    const own = isJsonObject(val) ? ownClassOf(val) : null
    if (own !== null && own !== className)
      throw new Failure('bad-request', 'builtin_object_class differs from the _class_name of the value.')
    const isSerialised = classesOf(val).leaf_object_class !== null
    const codec = classes.get(className)
    if (codec === undefined) {
      if (isSerialised) return val
      throw new Failure(
        'bad-request',
        `builtin_object_class is unknown. Known classes: ${[...classes.keys()].sort().join(', ')}.`,
      )
    }
    if (objectsIn(val) > MAX_OBJECTS)
      throw invalidBody([
        problem('too_long', `The value should have at most ${MAX_OBJECTS} objects and lists`),
      ])
    const decoded = decode(codec)(val)
    if (E.isRight(decoded)) return isSerialised ? val : decoded.right
    const problems = isSerialised ? decoded.left.filter((one) => !isFurtherMember(one)) : decoded.left
    if (problems.length === 0) return val
    throw invalidBody(problems.map((one) => ({ ...one, loc: [...VALUE, ...one.loc] })))
  }
}

const problem = (type: string, msg: string): Problem => ({ loc: VALUE, type, msg })

/** The SDKs add members to their own objects, such as the ops of a model. */
const isFurtherMember = ({ type, loc }: Problem): boolean => type === 'extra_forbidden' && loc.length === 1

const objectsIn = (value: Json): number => {
  if (typeof value !== 'object' || value === null) return 0
  let count = 1
  for (const member of Object.values(value)) count += objectsIn(member)
  return count
}
