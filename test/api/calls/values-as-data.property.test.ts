import assert from 'node:assert/strict'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { anEnd, aStart } from '../../support/call-requests.js'
import { accepted } from './given.js'

const HOSTILE = [
  "'",
  "''",
  "\\'",
  '\\',
  '\\\\',
  '"',
  '`',
  '%',
  '_',
  '*',
  ':*',
  '?',
  '.*',
  '[',
  ']',
  "','",
  "']",
  "[']",
  '{project:String}',
  '{call_ids:Array(String)}',
  '$1',
  ';',
  '--',
  '/*',
  '#',
  '\\N',
  'NULL',
  'null',
  'nan',
  ' ',
  "' OR '1'='1",
  "'; DROP TABLE calls; --",
  '\\x00',
  '\\0',
  '\\u0000',
  '\\t',
  '👍',
  'é',
  'e\u0301',
  '\ufeff',
  '\ufffd',
]

/** What only names of ops and payloads may hold. */
const CONTROLS = ['\u0000', 'a\u0000b', '\n', '\r\n', '\t', '\b', '\u001f', '\u007f', '\u2028']

const hostile = (units: readonly string[]) =>
  fc.oneof(
    fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter((text) => text.isWellFormed()),
  )

const idText = hostile(HOSTILE).filter((text) => !/\p{Cc}/u.test(text) && Buffer.byteLength(text) <= 256)
const opText = hostile([...HOSTILE, ...CONTROLS])

describe('a value of a client', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('finds what has this very value, whatever stands in it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(idText, { minLength: 2, maxLength: 6 }), async (values) => {
        const project = someProject()
        const { calls } = service.in(project)
        await calls
          .batch(
            values.map((value) => ({
              start: {
                id: value,
                trace_id: value,
                parent_id: value,
                thread_id: value,
                turn_id: value,
                wb_run_id: value,
              },
            })),
          )
          .json()
        for (const value of values) {
          assert.equal((await calls.read(value)).id, value)
          for (const key of ['call_ids', 'trace_ids', 'parent_ids', 'thread_ids', 'turn_ids'])
            assert.deepEqual(await calls.ids({ filter: { [key]: [value] } }), [value], key)
          const usage = await calls.usage({ call_ids: [value] })
          assert.deepEqual(accepted(usage), { call_usage: { [value]: {} }, unfinished_call_ids: [value] })
        }
        const all = await calls.ids({ filter: { call_ids: values } })
        assert.deepEqual(all.toSorted(), values.toSorted())
      }),
      { numRuns: COUNTS.textValues },
    )
  })

  it('finds the ops of this very name', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(opText, { minLength: 2, maxLength: 6 }), async (names) => {
        const project = someProject()
        const { calls } = service.in(project)
        await calls.batch(names.map((op_name, i) => ({ start: { id: `c${i}`, op_name } }))).json()
        for (const [i, name] of names.entries()) {
          const expected = names.flatMap((other, j) =>
            other === name || (name.endsWith(':*') && other.startsWith(name.slice(0, -1))) ? [`c${j}`] : [],
          )
          assert.ok(expected.includes(`c${i}`))
          const found = await calls.ids({ filter: { op_names: [name] } })
          assert.deepEqual(found.toSorted(), expected.toSorted())
        }
      }),
      { numRuns: COUNTS.textValues },
    )
  })

  it('among others that hold NUL does not end the list', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    await calls.start({ id: 'c', op_name: 'a\u0000b' }).json()
    for (const filter of [
      { call_ids: ['x\u0000y', 'c'] },
      { call_ids: ['\u0000', 'c', '\u0000'] },
      { op_names: ['x\u0000', 'a\u0000b'] },
      { op_names: ['a\u0000b'], call_ids: ['c'] },
    ])
      assert.deepEqual(await calls.ids({ filter }), ['c'])
    for (const filter of [
      { op_names: ['a'] },
      { op_names: ['a\u0000'] },
      { call_ids: ['c\u0000'] },
      { call_ids: ['c\u0000d'] },
    ])
      assert.deepEqual(await calls.ids({ filter }), [])
  })

  it('that names a model is that name in the usage', async () => {
    const models = [...HOSTILE, ...CONTROLS, '', '__proto__', 'constructor', 'x'.repeat(10_000), '\ud83d']
    const project = someProject()
    const usage = Object.fromEntries(models.map((model, i) => [model, { requests: i + 1 }]))
    const call = {
      ...aStart(project, { id: 'c', trace_id: 't' }),
      ...anEnd(project, 'c', { summary: { usage } }),
    }
    accepted(await service.post(`/v2/${project}/calls/complete`, { batch: [call] }))
    const answer = await service.in(project).usage.ofTraces().json()
    const { c } = answer['call_usage'] as unknown as { c: Readonly<Record<string, { requests: number }>> }
    const answered = Object.entries(c).map(([model, { requests }]) => [model, requests] as const)
    assert.deepEqual(new Map(answered), new Map(models.map((model, i) => [model.toWellFormed(), i + 1])))
  })

  it('that is a reference finds where it stands', async () => {
    const project = someProject()
    const { calls } = service.in(project)
    const refs = HOSTILE.map((text, i) => `weave:///e/p/object/${text}:v${i}`)
    await calls.batch(refs.map((ref, i) => ({ start: { id: `c${i}`, inputs: { a: [ref] } } }))).json()
    for (const [i, ref] of refs.entries())
      assert.deepEqual(await calls.ids({ filter: { input_refs: [ref] } }), [`c${i}`], ref)
  })
})
