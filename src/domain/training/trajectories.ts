import * as t from 'io-ts'
import { Codec } from '../../kernel/codec/codec.js'
import { arrayOf, nullable, withDefault } from '../../kernel/codec/containers.js'
import { json, jsonObject, number } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'

const history = open('TrajectoryHistory', { required: { messages_and_choices: arrayOf(jsonObject) } })

/** Clients leave out what has its default; null is the same as absent. */
const trajectory = open('Trajectory', {
  optional: {
    messages_and_choices: nullable(arrayOf(jsonObject)),
    additional_histories: nullable(arrayOf(history)),
    exchanges: nullable(jsonObject),
    reward: withDefault(number, 0, true),
    metadata: nullable(json),
  },
})

export const trajectoryGroup = open('TrajectoryGroup', {
  says: 'Attempts at the same task. `exceptions` are attempts that failed: they are no trajectories.',
  optional: {
    trajectories: nullable(arrayOf(trajectory)),
    exceptions: nullable(arrayOf(json)),
    metadata: nullable(json),
  },
})
export type TrajectoryGroup = t.TypeOf<typeof trajectoryGroup>
type Trajectory = NonNullable<TrajectoryGroup['trajectories']>[number]

/** Tokens to train on, with the log probabilities that they were sampled with; null for unknown ones. */
export interface TrainingSequence {
  readonly tokens: readonly number[]
  /** True for sampled tokens. */
  readonly mask: readonly boolean[]
  readonly logprobs: readonly (number | null)[]
}

export interface TrainingTrajectory {
  readonly reward: number
  readonly sequences: readonly TrainingSequence[]
}

/** Trajectories that cannot be trained on. The message is for the user. */
export class UntrainableTrajectories extends Error {
  override readonly name = 'UntrainableTrajectories'
}

interface TrajectoryOptions {
  readonly allowWithoutLogprobs: boolean
  /** Whether the model of a captured request is the one that is trained. */
  readonly isModel: (name: string) => boolean
}

/** What was sampled in one answer. */
interface Sampled {
  readonly prompt: readonly number[]
  readonly completion: readonly number[]
  readonly logprobs: readonly (number | null)[]
}

/**
 * The sampled tokens of trajectories, with their contexts. Answers whose prompt begins with all that came before them
 * continue its sequence.
 *
 * @throws UntrainableTrajectories if a sampled answer has no token ids or no log probabilities
 */
export const trainingGroups = (
  groups: readonly TrajectoryGroup[],
  options: TrajectoryOptions,
): readonly (readonly TrainingTrajectory[])[] =>
  groups.map(({ trajectories }, group) =>
    (trajectories ?? []).map((one, at) => {
      const where = `trajectory_groups.${group}.trajectories.${at}`
      const histories = historiesOf(one, options, where)
      return { reward: one.reward, sequences: histories.flatMap(sequencesOf) }
    }),
  )

const historiesOf = (
  { messages_and_choices, additional_histories, exchanges }: Trajectory,
  options: TrajectoryOptions,
  where: string,
): readonly (readonly Sampled[])[] => {
  if (exchanges !== null) return [capturedIn(exchanges, options, where)]
  const histories = [
    messages_and_choices ?? [],
    ...(additional_histories ?? []).map((one) => one.messages_and_choices),
  ]
  return histories.map((history) =>
    history
      .filter((message) => 'finish_reason' in message && isJsonObject(message['message']))
      .flatMap((choice) => sampledIn(choice, choice['prompt_token_ids'], options, where)),
  )
}

/** Requests that a client captured with their responses. Those to other models, such as judges, are left out. */
const capturedIn = (exchanges: JsonObject, options: TrajectoryOptions, where: string): readonly Sampled[] => {
  const completions = exchanges['chat_completions']
  if (!Array.isArray(completions)) return []
  return (completions as readonly Json[]).filter(isJsonObject).flatMap(({ model, request, response }) => {
    const named = typeof model === 'string' ? model : isJsonObject(request) ? request['model'] : undefined
    if (typeof named !== 'string' || !options.isModel(named) || !isJsonObject(response)) return []
    const choices = response['choices']
    if (!Array.isArray(choices)) return []
    return (choices as readonly Json[])
      .filter(isJsonObject)
      .flatMap((choice) => sampledIn(choice, response['prompt_token_ids'], options, where))
  })
}

const sampledIn = (
  choice: JsonObject,
  promptIds: Json | undefined,
  { allowWithoutLogprobs }: TrajectoryOptions,
  where: string,
): readonly Sampled[] => {
  const entries = entriesIn(choice['logprobs'])
  const logprobs = logprobsIn(choice, entries)
  if (logprobs === undefined && !allowWithoutLogprobs) return []
  const completion = idsIn(choice['token_ids']) ?? idsOfEntries(entries)
  const prompt = idsIn(promptIds)
  if (completion === undefined || prompt === undefined)
    throw new UntrainableTrajectories(
      `${where}: a choice has no token_ids or no prompt_token_ids. Sample with the chat endpoint of this service, which sends them.`,
    )
  if (logprobs !== undefined && logprobs.length !== completion.length)
    throw new UntrainableTrajectories(
      `${where}: a choice has ${completion.length} token ids, but ${logprobs.length} log probabilities.`,
    )
  return [{ prompt, completion, logprobs: logprobs ?? completion.map(() => null) }]
}

const entriesIn = (logprobs: Json | undefined): readonly JsonObject[] | undefined => {
  const content = isJsonObject(logprobs) ? logprobs['content'] : undefined
  return Array.isArray(content) ? (content as readonly Json[]).filter(isJsonObject) : undefined
}

const logprobsIn = (
  choice: JsonObject,
  entries: readonly JsonObject[] | undefined,
): readonly (number | null)[] | undefined => {
  const plain = choice['art_completion_logprobs'] ?? choice['compact_logprobs']
  if (Array.isArray(plain)) return (plain as readonly Json[]).map(finite)
  return entries?.map(({ logprob }) => finite(logprob))
}

const finite = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

const isTokenId = (value: Json): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const idsIn = (value: Json | undefined): readonly number[] | undefined =>
  Array.isArray(value) && (value as readonly Json[]).every(isTokenId)
    ? (value as readonly number[])
    : undefined

/** `token_id:<n>`, as servers write tokens when they are asked to. */
const idsOfEntries = (entries: readonly JsonObject[] | undefined): readonly number[] | undefined => {
  const ids = entries?.map(({ token }) =>
    Number(/^token_id:(\d+)$/.exec(typeof token === 'string' ? token : '')?.[1] ?? Number.NaN),
  )
  return ids?.every(Number.isSafeInteger) === true ? ids : undefined
}

const sequencesOf = (answers: readonly Sampled[]): readonly TrainingSequence[] => {
  const sequences: { tokens: number[]; mask: boolean[]; logprobs: (number | null)[] }[] = []
  for (const { prompt, completion, logprobs } of answers) {
    let last = sequences.at(-1)
    if (last === undefined || !beginsWith(prompt, last.tokens)) {
      last = { tokens: [], mask: [], logprobs: [] }
      sequences.push(last)
    }
    const context = prompt.slice(last.tokens.length)
    last.tokens.push(...context, ...completion)
    last.mask.push(...context.map(() => false), ...completion.map(() => true))
    last.logprobs.push(...context.map(() => null), ...logprobs)
  }
  return sequences
}

const beginsWith = (tokens: readonly number[], beginning: readonly number[]): boolean =>
  tokens.length >= beginning.length && beginning.every((token, at) => tokens[at] === token)

const groups = arrayOf(trajectoryGroup)

/** Checked, and kept with the members that the service does not read. */
export const givenGroups: Codec<readonly JsonObject[]> = new Codec(
  groups.name,
  (u): u is readonly JsonObject[] => groups.is(u),
  (u, context) => {
    const decoded = groups.validate(u, context)
    return decoded._tag === 'Left' ? decoded : t.success(u as readonly JsonObject[])
  },
  groups.schema,
)
