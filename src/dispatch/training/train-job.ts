import * as E from 'fp-ts/lib/Either.js'
import { CHECKPOINT_FILE } from '../../application/training/checkpoints.js'
import type { ClaimedJob } from '../../application/training/leases.js'
import type { Progress } from '../../domain/training/commands.js'
import type { StepMetrics } from '../../domain/training/events.js'
import { rlConfig, type RlConfig } from '../../domain/training/rl-config.js'
import { sftConfig } from '../../domain/training/sft-config.js'
import { conversationIn, linesOf } from '../../domain/training/sft-data.js'
import {
  trainingGroups,
  trajectoryGroup,
  UntrainableTrajectories,
} from '../../domain/training/trajectories.js'
import type { Engine } from '../../engine/engine.js'
import { shapeOf } from '../../engine/checkpoint.js'
import { signalIn, type RlOptions } from '../../engine/rl.js'
import type { SftExample } from '../../engine/sft.js'
import { trainingTokens } from '../../engine/tokens.js'
import { fitsContext, targetCount } from '../../engine/trainer.js'
import { decode, type Codec } from '../../kernel/codec/codec.js'
import { arrayOf } from '../../kernel/codec/containers.js'
import { parseJson } from '../../kernel/json/parse.js'
import { BlobMissing } from '../../kernel/ports/blobs.js'
import type { Ports } from '../../kernel/ports/ports.js'

interface Training {
  readonly report: (progress: Progress) => void
  readonly signal: AbortSignal
}

type BlobsOfJob = Pick<Ports, 'blobs'>

const contentOf = async ({ blobs }: BlobsOfJob, digest: string): Promise<Uint8Array> => {
  const content = await blobs.get(digest)
  if (content === undefined) throw new BlobMissing(digest)
  return content
}

const checkpointOf = async (ports: BlobsOfJob, { from }: ClaimedJob): Promise<Uint8Array | null> => {
  if (from === null) return null
  const file = from.files.find(({ path }) => path === CHECKPOINT_FILE)
  if (file === undefined)
    throw new UntrainableTrajectories(`The checkpoint of step ${from.step} has no file ${CHECKPOINT_FILE}.`)
  return contentOf(ports, file.blob)
}

const read = <A>(codec: Codec<A>, value: unknown): A => {
  const decoded = decode(codec)(value)
  if (E.isRight(decoded)) return decoded.right
  throw new Error('a training job of the log does not match its codec')
}

const groupsCodec = arrayOf(trajectoryGroup)

interface Trained {
  readonly checkpoint: Uint8Array
  /** Of a job without gradient steps, which would have them. */
  readonly metrics?: StepMetrics
}

/** One pass over the trajectories of the job. Without a signal the checkpoint is the one before. */
export const trainRlJob = async (
  ports: BlobsOfJob,
  engine: Engine,
  claimed: ClaimedJob,
  { report, signal }: Training,
): Promise<Trained> => {
  const { job, model } = claimed
  const given = parseJson(new TextDecoder().decode(await contentOf(ports, job.input)))
  const config = read(rlConfig, job.config)
  const groups = trainingGroups(read(groupsCodec, given), {
    allowWithoutLogprobs: config.allow_training_without_logprobs,
    isModel: isNameOf(`${model.project_id}/${model.name}`),
  })
  requireSampledTokens(groups)
  const { trainable, tooLong, withoutTokens } = signalIn(groups, job.base_model)
  if (trainable === 0 && tooLong + withoutTokens > 0)
    throw new UntrainableTrajectories(
      `Nothing was trained. Of ${tooLong + withoutTokens} trajectories whose rewards differ from those of their group, ${tooLong} are longer than the context of ${shapeOf(job.base_model).context} tokens, and ${withoutTokens} have no sampled tokens.`,
    )
  report({ type: 'training_started', num_sequences: trainable > 0 ? 1 : 0 })
  const { checkpoint } = await engine.rl(
    {
      checkpoint: await checkpointOf(ports, claimed),
      baseModel: job.base_model,
      groups,
      options: optionsOf(config),
    },
    { onStep: (metrics) => report({ type: 'gradient_step', metrics }), signal },
  )
  if (trainable > 0) return { checkpoint }
  return { checkpoint, metrics: { num_groups_submitted: groups.length, num_groups_trainable: 0 } }
}

/** A batch of which nothing was sampled by the model would train nothing for ever. */
const requireSampledTokens = (
  groups: readonly (readonly { readonly sequences: readonly object[] }[])[],
): void => {
  const trajectories = groups.flat()
  if (trajectories.length > 0 && trajectories.every(({ sequences }) => sequences.length === 0))
    throw new UntrainableTrajectories(
      'No answer in the trajectories has log probabilities. Sample with the chat endpoint of this service, and keep its choices as they are.',
    )
}

const isNameOf =
  (model: string) =>
  (name: string): boolean =>
    name.replace(/^wandb-artifact:\/{2,3}/, '').replace(/:[^:/]*$/, '') === model

const optionsOf = (config: RlConfig): RlOptions => ({
  learningRate: config.learning_rate,
  lossFn: config.loss_fn ?? (config.ppo ? 'ppo' : 'cispo'),
  epsilon: config.epsilon,
  epsilonHigh: config.epsilon_high,
  importanceSamplingLevel: config.importance_sampling_level,
  scaleRewards: config.scale_rewards,
  normalizeAdvantages: config.normalize_advantages,
  advantageBalance: config.advantage_balance,
  maxNegativeAdvantageImportanceSamplingWeight: config.max_negative_advantage_importance_sampling_weight,
  maskProbRatio: config.mask_prob_ratio,
  kimiK2Tau: config.kimi_k2_tau,
  truncatedImportanceSampling: config.truncated_importance_sampling,
})

/** One step for each batch of conversations, in the order of the file. */
export const trainSftJob = async (
  ports: BlobsOfJob,
  engine: Engine,
  claimed: ClaimedJob,
  { report, signal }: Training,
): Promise<Trained> => {
  const { job } = claimed
  const { batch_size, learning_rate, assistant_turns, epochs } = read(sftConfig, job.config)
  const examplesIn = async (blob: string) =>
    linesOf(await contentOf(ports, blob)).map(({ number, text }) => {
      const conversation = conversationIn(text)
      if (typeof conversation === 'string')
        throw new UntrainableTrajectories(`Line ${number} ${conversation}.`)
      return trainingTokens(conversation.messages, assistant_turns)
    })
  const examples = await examplesIn(job.input)
  requireTrainable(examples, job.base_model)
  const perEpoch = Math.ceil(examples.length / batch_size)
  const batches = Array.from({ length: epochs * perEpoch }, (_, at) => ({
    examples: examples.slice((at % perEpoch) * batch_size, ((at % perEpoch) + 1) * batch_size),
    learningRate: typeof learning_rate === 'number' ? learning_rate : learning_rate[at]!,
  }))
  report({ type: 'training_started', num_sequences: batches.length })
  const checkpoint = await engine.sft(
    {
      checkpoint: await checkpointOf(ports, claimed),
      baseModel: job.base_model,
      batches,
      validation: job.validation === null ? [] : await examplesIn(job.validation),
    },
    { onStep: (metrics) => report({ type: 'gradient_step', metrics }), signal },
  )
  return { checkpoint }
}

const requireTrainable = (examples: readonly SftExample[], baseModel: string): void => {
  const fitting = examples.filter((example) => fitsContext(baseModel, example))
  if (fitting.some((example) => targetCount(example) > 0)) return
  throw new UntrainableTrajectories(
    `Nothing was trained. Of ${examples.length} conversations, ${examples.length - fitting.length} are longer than the context of ${shapeOf(baseModel).context} tokens, and ${fitting.length} have no answer to train on: theirs are empty or have the weight 0.`,
  )
}
