import type { SerializedError } from './errors.js'
import type { RlGroup, RlOptions } from './rl.js'
import type { SampledToken, SamplingOptions } from './sample.js'
import type { SftExample } from './sft.js'

/** Messages between the service and the threads of the engine. */

export interface SftJob {
  /** Null starts from the base model. */
  readonly checkpoint: Uint8Array | null
  readonly baseModel: string
  /** One step each. */
  readonly batches: readonly { readonly examples: readonly SftExample[]; readonly learningRate: number }[]
  /** Their mean loss after training is `validation_loss` of the last step. */
  readonly validation?: readonly SftExample[]
}

export interface RlJob {
  readonly checkpoint: Uint8Array | null
  readonly baseModel: string
  readonly groups: readonly RlGroup[]
  readonly options: RlOptions
}

export interface SampleJob {
  /** Of the checkpoint; null samples the base model. */
  readonly key: string | null
  readonly baseModel: string
  readonly prompt: readonly number[]
  readonly options: SamplingOptions
  /** Each has a seed of its own, which follows from that of the options. */
  readonly choices: number
}

export interface SampledChoiceToken extends SampledToken {
  readonly choice: number
}

export type Metrics = Readonly<Record<string, number>>

export type ToThread =
  /** The job ends soon after the first element of `cancelled` is no longer 0. */
  | { readonly type: 'sft'; readonly id: number; readonly job: SftJob; readonly cancelled: Int32Array }
  | { readonly type: 'rl'; readonly id: number; readonly job: RlJob; readonly cancelled: Int32Array }
  | { readonly type: 'sample'; readonly id: number; readonly job: SampleJob }
  | { readonly type: 'cancel'; readonly id: number }
  /** The answers to `load`. */
  | { readonly type: 'loaded'; readonly key: string; readonly bytes: Uint8Array }
  | { readonly type: 'load_failed'; readonly key: string; readonly error: SerializedError }

export type FromThread =
  | { readonly type: 'step'; readonly id: number; readonly metrics: Metrics }
  | {
      readonly type: 'trained'
      readonly id: number
      readonly checkpoint: Uint8Array
      readonly gradientSteps: number
    }
  | { readonly type: 'tokens'; readonly id: number; readonly tokens: readonly SampledChoiceToken[] }
  | { readonly type: 'sampled'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly error: SerializedError }
  /** Asks for a checkpoint that is not in the cache of the thread. */
  | { readonly type: 'load'; readonly key: string }
