import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type * as t from 'io-ts'
import type { Codec } from '../../../kernel/codec/codec.js'
import { nullable, recordOf } from '../../../kernel/codec/containers.js'
import { open } from '../../../kernel/codec/struct.js'
import { textUpToCharacters } from '../../../kernel/codec/text.js'
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/json/json.js'
import { kindOf, ownClassOf } from '../../objects/classes.js'
import { isOpRef, parseRef } from '../../refs/ref.js'
import {
  argumentsOf,
  BUILT_IN_SETTINGS,
  isBuiltInClass,
  type BuiltInClass,
  type BuiltInSettings,
} from './built-in-settings.js'
import type { ColumnMap } from './column-map.js'
import { decoded } from './decoded.js'
import { httpSettings, httpProblem } from './http-settings.js'
import { judgeSettings } from './judge-settings.js'

interface Common {
  /** The key of its scores. */
  readonly name: string
  readonly ref: string
  readonly columnMap: ColumnMap
}

/** Runs here, see `compileBuiltIn`. */
export type BuiltInScorer = {
  readonly [C in BuiltInClass]: Common & {
    readonly kind: 'built-in'
    readonly className: C
    readonly settings: BuiltInSettings<C>
  }
}[BuiltInClass]

/** The `LLMAsAJudgeScorer` of the SDKs. */
export interface JudgeScorer extends Common {
  readonly kind: 'llm-judge'
  readonly settings: t.TypeOf<typeof judgeSettings>
}

export interface HttpScorer extends Common {
  readonly kind: 'http'
  readonly settings: t.TypeOf<typeof httpSettings>
}

/** A scorer whose code is in an SDK: it cannot run here. */
export interface CodeScorer extends Common {
  readonly kind: 'code'
  readonly className: string
}

export type Scorer = BuiltInScorer | JudgeScorer | HttpScorer | CodeScorer

const MAX_NAME = 256
const MAX_PATH = 1_000

const described = open('Scorer', {
  optional: {
    name: nullable(textUpToCharacters(MAX_NAME)),
    column_map: nullable(recordOf(textUpToCharacters(MAX_PATH))),
  },
})

/**
 * Decodes an object of the object store as a scorer; the error names the scorer and its field. A class that is not known
 * here is a code scorer if it is an op or has the base class `Scorer`, and no scorer otherwise.
 */
export const decodeScorer = (ref: string, val: Json): E.Either<string, Scorer> => {
  if (!isJsonObject(val)) return E.left(`${ref} is not a scorer: its value is not an object`)
  const className = classOf(val)
  return pipe(
    commonOf(ref, className, val),
    E.chain((common) => ofClass(className, common, val)),
    E.mapLeft((error) => `${className === '' ? 'Object' : className} ${ref}: ${error}`),
  )
}

const commonOf = (ref: string, className: string, val: JsonObject): E.Either<string, Common> =>
  pipe(
    decoded(described, val),
    E.map(({ name, column_map }) => ({
      name: scoreName(name, ref, className),
      ref,
      columnMap: column_map ?? {},
    })),
  )

const ofClass = (className: string, common: Common, val: JsonObject): E.Either<string, Scorer> => {
  if (!isCode(className, val)) {
    if (isBuiltInClass(className)) return builtIn(className, common, val)
    if (className === 'LLMAsAJudgeScorer')
      return pipe(
        decoded(judgeSettings, val),
        E.map((settings): Scorer => ({ ...common, kind: 'llm-judge', settings })),
      )
    if (className === 'HTTPScorer')
      return pipe(
        decoded(httpSettings, val),
        E.filterOrElse(
          (settings) => httpProblem(settings) === undefined,
          (settings) => httpProblem(settings) ?? '',
        ),
        E.map((settings): Scorer => ({ ...common, kind: 'http', settings })),
      )
    return E.left('the object is not a scorer')
  }
  return E.right({ ...common, kind: 'code', className })
}

const builtIn = (className: BuiltInClass, common: Common, val: JsonObject): E.Either<string, Scorer> => {
  const known = argumentsOf(className)
  const unknown = Object.keys(common.columnMap).find((argument) => !known.includes(argument))
  if (unknown !== undefined)
    return E.left(`column_map: the scorer has no argument ${quoted(unknown)}, only ${known.join(' and ')}`)
  return pipe(
    decoded(BUILT_IN_SETTINGS[className] as Codec<BuiltInScorer['settings']>, val),
    E.map((settings) => ({ ...common, kind: 'built-in', className, settings }) as BuiltInScorer),
  )
}

/** Classes of the SDKs whose objects have the op of their code, and run here all the same. */
const SDK_CLASSES = new Set([
  'LLMAsAJudgeScorer',
  'LevenshteinScorer',
  'StringMatchScorer',
  'ValidJSONScorer',
])

/** A class of a user may have the name of one of ours: then its object has the op of its code, which ours have not. */
const isCode = (className: string, val: JsonObject): boolean => {
  if (kindOf(val) === 'op') return true
  if (SDK_CLASSES.has(className)) return false
  const { score, _bases: bases } = val
  if (isBuiltInClass(className) || className === 'HTTPScorer')
    return typeof score === 'string' && isOpRef(score)
  return Array.isArray(bases) && bases.includes('Scorer')
}

const classOf = (val: JsonObject): string => {
  const type = val['_type']
  return kindOf(val) === 'op' ? 'Op' : (ownClassOf(val) ?? (typeof type === 'string' ? type : ''))
}

/** The scorer's own name, else the object id in its reference, else its class, written as the SDKs write object ids. */
const scoreName = (own: string | null, ref: string, className: string): string => {
  const target = parseRef(ref)
  const id = target?.kind === 'object' ? target.objectId : ''
  return [own ?? '', id, className].map(asObjectId).find((name) => name !== '') ?? 'scorer'
}

const MAX_OBJECT_ID = 128

const asObjectId = (name: string): string =>
  name
    .replace(/[^\p{L}\p{N}_.]+/gu, '-')
    .replace(/[._-]{2,}/g, '-')
    .replace(/^[-_]+|[-_]+$/g, '')
    .slice(0, MAX_OBJECT_ID)

const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_NAME))
