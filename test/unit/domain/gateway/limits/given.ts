import type { CompletionUsage } from '../../../../../src/domain/gateway/limits/charge.js'
import { toAttributes, type GatewayCall } from '../../../../../src/domain/gateway/limits/gateway-call.js'
import { callStream } from '../../../../../src/domain/calls/call.js'
import type { Instant } from '../../../../../src/kernel/codec/instant.js'
import type { JsonObject } from '../../../../../src/kernel/json/json.js'
import type { RecordedEvent } from '../../../../../src/kernel/ports/event-store.js'

/** What a token costs, in whole units: sums are then easy to read. */
export const PRICE = {
  prompt_token_cost: '1',
  completion_token_cost: '1',
  cache_read_input_token_cost: '0.5',
  cache_creation_input_token_cost: '2',
  cache_creation_1h_input_token_cost: '2',
}

/** What a completion used. */
export const usedTokens = (
  prompt_tokens: number,
  completion_tokens = 0,
  more: Partial<CompletionUsage> = {},
) => ({
  prompt_tokens,
  completion_tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation_1h_input_tokens: 0,
  prompt_audio_tokens: 0,
  completion_audio_tokens: 0,
  web_search_requests: 0,
  seconds: 0,
  characters: 0,
  images: 0,
  reported_cost: 0,
  ...more,
})

export const ONE = 10n ** 12n

export const aCall = (id: string, over: Partial<GatewayCall> = {}): GatewayCall => {
  const project = over.project ?? 'team/project'
  return {
    stream: callStream(project, id),
    project,
    id,
    keyId: 'key',
    admittedAt: '2026-11-21T10:00:00.000000Z' as Instant,
    instance: 'this',
    deadlineAt: '2026-11-21T10:20:00.000000Z' as Instant,
    reserved: 10n * ONE,
    price: PRICE,
    ...over,
  }
}

type Written = Pick<RecordedEvent, 'type' | 'stream' | 'data'>

export const started = (call: GatewayCall): Written => ({
  type: 'CallStarted',
  stream: call.stream,
  data: {
    project_id: call.project,
    id: call.id,
    started_at: call.admittedAt,
    attributes: { tallytree: toAttributes(call) },
  },
})

/** With so many tokens of the prompt, or what the gateway says where it does not know. */
export const ended = ({ stream }: GatewayCall, prompt: number | null, said: JsonObject = {}): Written => ({
  type: 'CallEnded',
  stream,
  data: {
    usage: { models: prompt === null ? [] : [{ model: 'm', prompt_tokens: prompt }] },
    summary: { tallytree: said },
  },
})

/** As the log has it at a position. */
export const recorded = (
  written: Written,
  position: number,
  part: string | null = 'inference',
): RecordedEvent => ({
  ...written,
  id: `event-${position}`,
  revision: 0n,
  position: BigInt(position),
  recordedAt: new Date(0),
  size: 0,
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    actor: 'a',
    schemaVersion: 1,
    ...(part === null ? {} : { part }),
  },
})
