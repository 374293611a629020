import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'

type Figures = Readonly<Record<string, number>>
type Usage = Readonly<Record<string, Figures>>

export interface SentStart extends JsonObject {
  readonly project_id: string
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly inputs: JsonObject
}

export interface SentEnd extends JsonObject {
  readonly project_id: string
  readonly id: string
  readonly output: string
  readonly summary: { readonly usage: Readonly<Record<string, JsonObject & Figures>> }
}

/** What a client knows of one call: what it sent, and what of it was acknowledged. */
export interface Entry {
  readonly start: SentStart
  end: SentEnd | null
  startAcknowledged: boolean
  endAcknowledged: boolean
}

/** A call as the service answers it. */
export interface SeenCall {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string | null
  readonly inputs: JsonObject
  readonly ended_at: string | null
  readonly output: string | null
  readonly summary: JsonObject
}

export interface SeenUsage {
  readonly call_usage: Readonly<Record<string, Usage>>
  readonly unfinished_call_ids: readonly string[]
}

export type Ledger = ReadonlyMap<string, Entry>

/** Nothing acknowledged is missing, nothing is there that was not sent, and what is there is what was sent. */
export const assertNothingLostOrInvented = (ledger: Ledger, calls: readonly SeenCall[]): void => {
  const seen = new Map(calls.map((call) => [call.id, call]))
  assert.equal(seen.size, calls.length, 'a call is answered twice')
  for (const { start, end, startAcknowledged, endAcknowledged } of ledger.values()) {
    const call = seen.get(start.id)
    if (startAcknowledged) assert.ok(call, `the acknowledged start of ${start.id} is lost`)
    if (endAcknowledged) assert.ok(call?.ended_at, `the acknowledged end of ${start.id} is lost`)
    if (call === undefined) continue
    assert.deepEqual(call.inputs, start.inputs)
    assert.equal(call.trace_id, start.trace_id)
    assert.equal(call.parent_id, start.parent_id)
    if (call.ended_at === null) continue
    assert.equal(call.output, end?.output)
    assert.deepEqual(call.summary['usage'], end?.summary.usage)
  }
  for (const id of seen.keys()) assert.ok(ledger.has(id), `${id} was never sent`)
}

/** Each call that is there counts once, in itself and in each of its ancestors; one without an end counts nothing. */
export const assertCountedOnce = (ledger: Ledger, calls: readonly SeenCall[], answer: SeenUsage): void => {
  const expected = new Map<string, Map<string, Record<string, number>>>(
    calls.map(({ id }) => [id, new Map()]),
  )
  const seen = new Map(calls.map((call) => [call.id, call]))
  for (const call of calls) {
    if (call.ended_at === null) continue
    const { usage } = ledger.get(call.id)!.end!.summary
    for (let above: SeenCall | undefined = call; above; above = seen.get(above.parent_id ?? ''))
      addInto(expected.get(above.id)!, usage)
  }
  assert.deepEqual(
    plain(answer.call_usage),
    Object.fromEntries([...expected].map(([id, sum]) => [id, Object.fromEntries(sum)])),
  )
  assert.deepEqual(
    answer.unfinished_call_ids,
    calls
      .filter(({ ended_at }) => ended_at === null)
      .map(({ id }) => id)
      .sort(),
  )
}

const addInto = (sum: Map<string, Record<string, number>>, usage: Usage): void => {
  for (const [model, figures] of Object.entries(usage)) {
    const so = sum.get(model) ?? { requests: 0, prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
    so['requests']! += figures['requests']!
    so['prompt_tokens']! += figures['prompt_tokens']!
    so['completion_tokens']! += figures['completion_tokens']!
    so['total_tokens']! += figures['prompt_tokens']! + figures['completion_tokens']!
    sum.set(model, so)
  }
}

const FIGURES = ['requests', 'prompt_tokens', 'completion_tokens', 'total_tokens']

/** The figures that were sent, without those that nobody sends here. */
const plain = (usage: SeenUsage['call_usage']) =>
  Object.fromEntries(
    Object.entries(usage).map(([id, models]) => [
      id,
      Object.fromEntries(
        Object.entries(models).map(([model, figures]) => [
          model,
          Object.fromEntries(FIGURES.map((name) => [name, figures[name]])),
        ]),
      ),
    ]),
  )
