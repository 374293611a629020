import fc from 'fast-check'
import { type CallCommand, callDecider, type CallState } from '../../../src/domain/calls/call.js'
import { callEnd, callStart, type CallEnd, type CallStart } from '../../../src/domain/calls/content.js'
import { FIGURES, reportedUsageOf } from '../../../src/domain/calls/usage/reported.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { usageReportingChosen } from '../../../src/domain/projects/project.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'
import { troublesomeText } from '../../support/arbitrary-json.js'
import { arbitraryOf } from '../../support/arbitrary-of-codec.js'

/** What a log can hold about one project's calls: events that deciders decided, in the order in which they did. */
export type History = readonly Pick<ProjectedEvent, 'type' | 'data'>[]

const IDS = ["it's", '"a\\b', '漢字😀', 'a/b', '\\N']
const TRACES = ['trace', 'tr\u2028ace']

type Step =
  | { readonly kind: 'start'; readonly call: string; readonly start: CallStart; readonly source: Source }
  | { readonly kind: 'end'; readonly call: string; readonly end: CallEnd }
  | { readonly kind: 'rename'; readonly call: string; readonly name: string | null }
  | { readonly kind: 'delete'; readonly call: string }
  | { readonly kind: 'reporting'; readonly data: JsonObject }

type Source = 'js-sdk' | 'python-sdk' | 'gateway' | null

const call = fc.constantFrom(...IDS)
const source = fc.constantFrom<Source>(null, 'js-sdk', 'python-sdk', 'gateway')

const start = fc
  .tuple(
    arbitraryOf(callStart),
    fc.constantFrom(...TRACES, null),
    fc.option(fc.constantFrom(...IDS, 'absent')),
  )
  .map(([content, trace_id, parent_id]): CallStart => ({ ...content, trace_id, parent_id }))

/** As the edge leaves text. */
const wellFormedText = troublesomeText().map((text) => text.toWellFormed())

const figure = fc.oneof(
  fc.nat(1000),
  fc.integer(),
  fc.constantFrom(2 ** 53, -(2 ** 53), 1e300, '12', ' +7 ', true, null, 1.9),
)

const arbitraryUsage = fc.oneof(
  { weight: 8, arbitrary: fc.dictionary(wellFormedText, figures(), { maxKeys: 3 }) },
  {
    weight: 1,
    arbitrary: figures().map((one) =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`m${i}`, one])),
    ),
  },
)

function figures() {
  return fc.record(Object.fromEntries(FIGURES.map((name) => [name, figure])), { requiredKeys: [] })
}

const end = fc
  .tuple(arbitraryOf(callEnd), arbitraryUsage, fc.option(fc.dictionary(fc.string(), fc.nat(9))))
  .map(([content, usage, status_counts]): CallEnd => {
    const counts = status_counts === null ? {} : { status_counts }
    return { ...content, summary: { ...content.summary, usage, ...counts } as JsonObject }
  })

const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('start' as const), call, start, source }) },
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('end' as const), call, end }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('rename' as const),
      call,
      name: fc.option(
        wellFormedText.filter((text) => text !== ''),
        { freq: 2 },
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), call }) },
  {
    weight: 1,
    arbitrary: arbitraryOf(usageReportingChosen).map((data): Step => ({ kind: 'reporting', data })),
  },
)

export const arbitraryHistory: fc.Arbitrary<History> = fc
  .array(arbitraryStep, { minLength: 10, maxLength: 60 })
  .map((steps) => decided(steps))

const decided = (steps: readonly Step[]): History => {
  const states = new Map<string, CallState>()
  return steps.flatMap((step): History => {
    if (step.kind === 'reporting') return [{ type: 'UsageReportingChosen', data: step.data }]
    let state = states.get(step.call) ?? callDecider.initialState()
    const { events } = callDecider.decide(state, commandOf(step))
    for (const event of events) state = callDecider.evolve(state, event)
    states.set(step.call, state)
    return events.map(({ type, data }) => ({ type, data: JSON.parse(JSON.stringify(data)) as unknown }))
  })
}

const commandOf = (step: Exclude<Step, { kind: 'reporting' }>): CallCommand => {
  const ofCall = { project_id: 'any/project', id: step.call }
  switch (step.kind) {
    case 'start':
      return {
        type: 'StartCall',
        start: { ...step.start, ...ofCall },
        parentTrace: null,
        source: step.source,
        userId: 'user',
      }
    case 'end':
      return {
        type: 'EndCall',
        end: { ...step.end, ...ofCall },
        usage: reportedUsageOf(step.end.summary ?? {}),
      }
    case 'rename':
      return { type: 'RenameCall', ...ofCall, display_name: step.name }
    case 'delete':
      return { type: 'DeleteCall', ...ofCall }
  }
}
