import assert from 'node:assert/strict'
import fc from 'fast-check'
import { alreadyAdded } from './already-added.js'
import { arbitraryUsageCase, type UsageCase } from './cases.js'
import { Family } from './family.js'
import { answer } from './oracle.js'
import { record } from './record.js'
import type { Started } from './started.js'

const SAMPLES = 3000

/** What a case must meet now and then, or the comparison with the oracle would prove little. */
const situations = ({ operations, question }: UsageCase): Readonly<Record<string, boolean>> => {
  const { calls, reporting } = record(operations)
  const everyone = new Family(calls)
  const living = new Family(calls.filter(({ deleted }) => !deleted))
  const asked = answer(operations, question)
  const kinds = (kind: string): number => operations.filter((operation) => operation.kind === kind).length
  const added = (call: Started) => alreadyAdded(call, everyone, 'auto')
  const depth = (call: Started, seen: ReadonlyArray<Started> = []): number => {
    const parent = everyone.parentOf(call)
    return parent === undefined || seen.includes(call) ? 1 : 1 + depth(parent, [...seen, call])
  }
  const onCycle = (call: Started): boolean => {
    const parent = everyone.parentOf(call)
    return parent !== undefined && parent !== call && everyone.descendsFrom(parent, call)
  }
  return {
    'a cycle of several': calls.some(onCycle),
    'a tree that hangs in a cycle': calls.some(
      (call) => !onCycle(call) && onCycle(everyone.parentOf(call) ?? call),
    ),
    'its own parent': calls.some((call) => everyone.parentOf(call) === call),
    'five levels': calls.some((call) => depth(call) >= 5),
    'eight children': calls.some((call) => everyone.childrenOf(call).length >= 8),
    'a parent nobody sent': calls.some(
      ({ parentId }) => parentId !== null && calls.every(({ id }) => id !== parentId),
    ),
    'a parent in another trace': calls.some(({ parentId, traceId }) =>
      calls.some((parent) => parent.id === parentId && parent.traceId !== traceId),
    ),
    'several traces': new Set(calls.map(({ traceId }) => traceId)).size > 1,
    'children already added': calls.some((call) => added(call).length > 0),
    'children of whom some are already added': calls.some(
      (call) => added(call).length > 0 && added(call).length < everyone.childrenOf(call).length,
    ),
    'an already added child that is deleted, of a parent that is not': calls.some(
      (call) => !call.deleted && added(call).some(({ deleted }) => deleted),
    ),
    'a living child of a deleted call': calls.some(
      (call) => !call.deleted && everyone.parentOf(call)?.deleted === true,
    ),
    'something deleted': calls.some(({ deleted }) => deleted),
    'descendants nobody selected': Object.keys(asked.call_usage).some((id) =>
      calls.some(
        (call) => call.id === id && living.withDescendants(call).some((one) => !(one.id in asked.call_usage)),
      ),
    ),
    'an end without a start': kinds('end') > 0 && calls.length < new Set(idsOf(operations)).size,
    'the project reports own': reporting === 'own',
    'the project reports rolled up': reporting === 'rolled_up',
    'an answer cut by the limit': asked.truncated > 0,
    'unfinished answered': asked.unfinished_call_ids.length > 0,
    'unfinished below': asked.unfinished_descendants > 0,
    'ties in started_at': new Set(calls.map(({ startedAt }) => startedAt)).size < calls.length,
    'an empty answer': Object.keys(asked.call_usage).length === 0,
    'an answer with figures': Object.values(asked.call_usage).some((usage) => Object.keys(usage).length > 0),
  }
}

const idsOf = (operations: UsageCase['operations']): ReadonlyArray<string> =>
  operations.flatMap((operation) => {
    if (operation.kind === 'start') return [operation.start.id.toWellFormed()]
    return operation.kind === 'end' ? [operation.end.id.toWellFormed()] : []
  })

describe('the cases for the usage oracle', () => {
  const samples = fc.sample(arbitraryUsageCase, { numRuns: SAMPLES, seed: 20_250_101 })

  it('meet every situation worth meeting in at least 2 of 100', () => {
    const met = new Map<string, number>()
    for (const sample of samples)
      for (const [name, is] of Object.entries(situations(sample)))
        met.set(name, (met.get(name) ?? 0) + Number(is))

    const rare = [...met].filter(([, count]) => count < SAMPLES / 50)
    assert.deepEqual(rare, [])
  })

  it('stay small', () => {
    for (const { operations } of samples) assert.ok(new Set(idsOf(operations)).size <= 26)
  })

  it('print as a list that can be read', () => {
    assert.match(fc.stringify(samples[7]), / {2}1\. (start|end|update|delete|the project)[^]*\n {2}ask \{/u)
  })
})
