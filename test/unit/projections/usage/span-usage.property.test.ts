import assert from 'node:assert/strict'
import fc from 'fast-check'
import { FIGURES } from '../../../../src/domain/calls/usage/reported.js'
import { COUNTERS, SOURCES } from '../../../../src/projections/usage/columns.js'
import { ownUsage } from '../../../../src/projections/usage/own-usage.js'
import { traceBuilder, type TraceCalls } from '../../../../src/projections/usage/trace.js'

interface SpanSpec {
  /** The place of the parent, before this one. */
  readonly parent: number
  readonly prompt: number
  readonly completion: number
  readonly responseId: string
}

const PROMPT = FIGURES.indexOf('prompt_tokens')
const COMPLETION = FIGURES.indexOf('completion_tokens')
const idOf = (n: number): string => `s${String(n).padStart(4, '0')}`

const traceOf = (spans: readonly SpanSpec[]): Promise<TraceCalls> => {
  const builder = traceBuilder()
  for (const [n, { parent, prompt, completion, responseId }] of spans.entries()) {
    const figures = FIGURES.map(() => 0)
    figures[PROMPT] = prompt
    figures[COMPLETION] = completion
    const isUsed = prompt + completion > 0
    builder.add({
      traceId: 't',
      id: idOf(n),
      parentId: n === 0 ? '' : idOf(parent),
      hasStart: true,
      hasEnd: true,
      isDeleted: false,
      started: 0,
      ended: 1,
      source: SOURCES.indexOf('otel'),
      statusTotal: NaN,
      responseId,
      models: isUsed ? ['m'] : [],
      figures: isUsed ? figures : [],
    })
  }
  return builder.finish()
}

const ownPrompts = async (spans: readonly SpanSpec[]): Promise<readonly number[]> => {
  const { offsets, values } = await ownUsage(await traceOf(spans), 'auto')
  const prompt = COUNTERS.indexOf('prompt_tokens')
  return spans.map((_, call) => {
    let sum = 0
    for (let entry = offsets[call]!; entry < offsets[call + 1]!; entry += 1)
      sum += values[entry * COUNTERS.length + prompt]!
    return sum
  })
}

/** The rule of docs/opentelemetry.md, word by word. */
const oracle = (spans: readonly SpanSpec[]): readonly number[] => {
  const reports = ({ prompt, completion }: SpanSpec) => prompt + completion > 0
  const childrenOf = (at: number) => [...spans.keys()].filter((n) => n > 0 && spans[n]!.parent === at)
  const nearest = (at: number): readonly number[] =>
    childrenOf(at).flatMap((child) => (reports(spans[child]!) ? [child] : nearest(child)))
  const usedAtAndBelow = (at: number): readonly [number, number] => {
    const { prompt, completion } = ownOf(at)
    return nearest(at)
      .map(usedAtAndBelow)
      .reduce(([a, b], [c, d]) => [a + c, b + d], [prompt, completion])
  }
  const ownOf = (at: number): { prompt: number; completion: number } => {
    const span = spans[at]!
    const below = nearest(at)
    const ids = below.map((n) => spans[n]!.responseId)
    const isOther = span.responseId !== '' && ids.every((id) => id !== '' && id !== span.responseId)
    if (!reports(span) || below.length === 0 || isOther) return span
    const [prompt, completion] = below.map(usedAtAndBelow).reduce(([a, b], [c, d]) => [a + c, b + d], [0, 0])
    return span.prompt >= prompt && span.completion >= completion
      ? { prompt: span.prompt - prompt, completion: span.completion - completion }
      : { prompt: 0, completion: 0 }
  }
  return spans.map((span, at) => (reports(span) ? ownOf(at).prompt : 0))
}

const arbitrarySpans = fc
  .array(
    fc.record({
      parent: fc.nat(30),
      prompt: fc.constantFrom(0, 0, 10, 20, 30, 60),
      completion: fc.constantFrom(0, 0, 5, 10),
      responseId: fc.constantFrom('', '', 'a', 'b', 'c'),
    }),
    { minLength: 1, maxLength: 24 },
  )
  .map((spans) => spans.map((span, n) => ({ ...span, parent: n === 0 ? 0 : span.parent % n })))

describe('own usage of spans', () => {
  const span = (parent: number, prompt: number, responseId = ''): SpanSpec => ({
    parent,
    prompt,
    completion: 0,
    responseId,
  })

  it('is what the rule says, for any tree', () =>
    fc.assert(
      fc.asyncProperty(arbitrarySpans, async (spans) => {
        assert.deepEqual(await ownPrompts(spans), oracle(spans))
      }),
    ))

  it('is nothing of three that report the same, but the last', async () => {
    assert.deepEqual(await ownPrompts([span(0, 100), span(0, 100), span(1, 100)]), [0, 0, 100])
  })

  it('is nothing of a parent that knows only some of its calls', async () => {
    assert.deepEqual(await ownPrompts([span(0, 100), span(0, 60), span(0, 70)]), [0, 60, 70])
  })

  it('is the rest of a parent that used more', async () => {
    assert.deepEqual(await ownPrompts([span(0, 150), span(0, 60), span(0, 70)]), [20, 60, 70])
  })

  it('is all of a parent whose response is another one', async () => {
    assert.deepEqual(await ownPrompts([span(0, 150, 'a'), span(0, 60, 'b')]), [150, 60])
    assert.deepEqual(await ownPrompts([span(0, 60, 'a'), span(0, 60, 'a')]), [0, 60])
  })
})
