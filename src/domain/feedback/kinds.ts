import type { Problem } from '../../kernel/codec/problem.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import type { JsonObject } from '../../kernel/json/json.js'
import { isLargerThan } from '../../kernel/json/measure.js'
import { isOpRef, parseRef } from '../refs/ref.js'
import { SCORER_FIELDS } from './content.js'
import { aliasOf, detoned, emojiCount, type EmojiName } from './emoji.js'
import type { FeedbackContent } from './feedback.js'

/** Validation of the known feedback types, as in the original service; other types are free-form. */

export const REACTION = 'wandb.reaction.1'
const NOTE = 'wandb.note.1'
const ANNOTATION = 'wandb.annotation'
const RUNNABLE = 'wandb.runnable'
const MONITOR = 'wandb.agent_monitor'
const USER_TAGS = 'wandb.agent_user_feedback'

const MAX_NOTE = 1024

/** The limit of the original servers, in bytes of JSON. */
const MAX_PAYLOAD = 1024 * 1024

type FeedbackInput = Omit<FeedbackContent, 'id' | 'spilled'>

/** Problems of feedback of a known type; none for any other type. */
export const kindProblems = (said: FeedbackInput): readonly Problem[] => [
  ...payloadProblems(said),
  ...refProblems(said),
  ...scorerProblems(said),
]

const payloadProblems = ({ feedback_type, payload }: FeedbackInput): readonly Problem[] => {
  if (payload !== null && isLargerThan(MAX_PAYLOAD, payload))
    return [problem(['payload'], 'too_long', `Object should have at most ${MAX_PAYLOAD} bytes as JSON`)]
  if (feedback_type === REACTION) {
    const emoji = payload?.['emoji']
    if (typeof emoji !== 'string') return [wrongText('emoji', emoji)]
    return emojiCount(emoji) === 1 ? [] : [value(['payload', 'emoji'], 'exactly one emoji is required')]
  }
  if (feedback_type === NOTE) {
    const note = payload?.['note']
    if (typeof note !== 'string') return [wrongText('note', note)]
    if (note === '')
      return [problem(['payload', 'note'], 'string_too_short', 'String should have at least 1 character')]
    if (!textUpToCharacters(MAX_NOTE).is(note))
      return [
        problem(['payload', 'note'], 'string_too_long', `String should have at most ${MAX_NOTE} characters`),
      ]
  }
  if (isAnnotation(feedback_type) && payload?.['value'] === undefined)
    return [problem(['payload', 'value'], 'missing', 'Field required')]
  return []
}

const REFS = ['annotation_ref', 'runnable_ref', 'call_ref', 'trigger_ref'] as const

const refProblems = (said: FeedbackInput): readonly Problem[] => {
  const { feedback_type } = said
  if (isAnnotation(feedback_type)) return named(ANNOTATION, 'annotation_ref', said)
  if (isOf(RUNNABLE, feedback_type))
    return [...forbidden(said, ['annotation_ref']), ...named(RUNNABLE, 'runnable_ref', said)]
  if (feedback_type === MONITOR)
    return [
      ...forbidden(said, ['annotation_ref']),
      ...REFS.slice(1).flatMap((ref) =>
        said[ref] === null ? [problem([ref], 'missing', 'Field required')] : [],
      ),
    ]
  return forbidden(said, REFS)
}

export const isAnnotation = (type: string): boolean => isOf(ANNOTATION, type)

/** What is wrong with the references of feedback of a known type beyond their form; undefined for nothing. */
export const referenceProblem = (said: FeedbackInput): readonly [field: string, says: string] | undefined => {
  const { feedback_type, annotation_ref, runnable_ref, call_ref, payload } = said
  if (isAnnotation(feedback_type) && !namesVersion(annotation_ref)) return ['annotation_ref', NAME_A_VERSION]
  if (!isOf(RUNNABLE, feedback_type)) return undefined
  if (!namesVersion(runnable_ref)) return ['runnable_ref', NAME_A_VERSION]
  if (isOpRef(runnable_ref!) && call_ref === null) return ['call_ref', 'required where the runnable is an op']
  return payload?.['output'] === undefined ? ['payload.output', 'required'] : undefined
}

const NAME_A_VERSION = 'the reference should name a version, as in weave:///entity/project/object/name:digest'

const namesVersion = (ref: string | null): boolean => ref !== null && parseRef(ref)?.kind === 'object'

const forbidden = (said: FeedbackInput, refs: readonly (typeof REFS)[number][]): readonly Problem[] =>
  refs.flatMap((ref) => (said[ref] === null ? [] : [value([ref], 'not allowed for feedback of this type')]))

/** `<prefix>.<name>` requires a reference to an object of that name. */
const named = (
  prefix: string,
  field: 'annotation_ref' | 'runnable_ref',
  said: FeedbackInput,
): readonly Problem[] => {
  const ref = said[field]
  if (ref === null) return [problem([field], 'missing', 'Field required')]
  const name = /^[a-z-]+:\/\/\/[^/]+\/[^/]+\/[^/]+\/([^/:]+)/.exec(ref)?.[1]
  return said.feedback_type === `${prefix}.${name}`
    ? []
    : [value([field], `the feedback type should be ${prefix}. followed by the name in the reference`)]
}

const scorerProblems = (said: FeedbackInput): readonly Problem[] => {
  const { feedback_type } = said
  if (feedback_type === USER_TAGS)
    return isEmpty(said.scorer_tags) ? [problem(['scorer_tags'], 'missing', 'Field required')] : []
  if (feedback_type === MONITOR || isOf(RUNNABLE, feedback_type)) return []
  return SCORER_FIELDS.flatMap((field) =>
    isEmpty(said[field]) ? [] : [value([field], 'only allowed for feedback of a scorer')],
  )
}

const isEmpty = (given: object | null): boolean => given === null || Object.keys(given).length === 0

/** A type with a known prefix, with or without a name after it. */
const isOf = (prefix: string, type: string): boolean => type.startsWith(prefix)

const problem = (loc: Problem['loc'], type: string, msg: string): Problem => ({ loc, type, msg })
const value = (loc: Problem['loc'], msg: string): Problem =>
  problem(loc, 'value_error', `Value error, ${msg}`)

const wrongText = (key: string, given: unknown): Problem =>
  given === undefined
    ? problem(['payload', key], 'missing', 'Field required')
    : problem(['payload', key], 'string_type', 'Input should be a valid string')

/** The payload to store: a reaction gets its emoji's name, with and without skin tone. */
export const keptPayload = (type: string, payload: JsonObject, nameOf: EmojiName): JsonObject => {
  const emoji = payload['emoji']
  if (type !== REACTION || typeof emoji !== 'string') return payload
  const plain = detoned(emoji)
  return { ...payload, alias: aliasOf(emoji, nameOf), detoned: plain, detoned_alias: aliasOf(plain, nameOf) }
}
