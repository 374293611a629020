import assert from 'node:assert/strict'
import type { Json } from '../../../../src/kernel/json/json.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import type { Operation } from '../../../../src/domain/query/expression.js'
import { callsProjection } from '../../../../src/projections/calls/project.js'
import { callIdPages, callIds } from '../../../../src/projections/calls/pages.js'
import { requiredTexts } from '../../../../src/projections/calls/required-text.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { allOf, statementOf } from '../../../../src/projections/sql.js'
import { openTestClickHouse } from '../../../support/engine.js'
import type { Call } from '../../../support/expression/call.js'
import { eventsOfCalls } from '../../../support/expression/events-of-calls.js'

const PROJECT = 'required/text'
const ENDED = 1000

const VALUES: Readonly<Record<string, Json>> = {
  text: 'customer-1',
  controls: ['\b\f\n\r\t\u0001\u001f\u007fcat', { '\u0001\u001fcat': '\bcat\fcat\ncat' }],
  key: { 'customer-1': 1 },
  truth: true,
  wide: 100_000_000_000_000_000_000,
  widest: [1e300, { deep: 1e21 }],
  kelvin: '\u212Aelvin',
  slash: 'a/b customer',
  lone: { some: '\ud800cat' },
}
const PATHS = ['inputs', 'inputs.at', 'output', 'output.at', 'attributes_dump.at.0']
const TEXTS = [
  'customer-1',
  'customer',
  'cat',
  'bcat',
  'fcat',
  'u0001',
  'u001f',
  'true',
  'e20',
  'e+20',
  'e21',
  'kelvin',
  'b customer',
]

const callOf = ([id, at]: readonly [string, Json], index: number) =>
  ({
    project_id: PROJECT,
    id,
    attributes: { at },
    inputs: { at },
    started: 1 + index,
    at: 1_767_225_600_000_000,
    op_name: 'op',
    trace_id: 'trace',
    display_name: null,
    parent_id: null,
    thread_id: null,
    wb_user_id: null,
    wb_run_id: null,
    wb_run_step: null,
    end: { position: ENDED + index, at: 1_767_225_600_000_001, exception: null, output: { at }, summary: {} },
    renamed: null,
    deleted: null,
    feedback: [],
  }) as unknown as Call

describe('calls by a text in their payload', () => {
  let clickHouse: ClickHouse

  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
    for (const rows of callsProjection.rowsOf(eventsOfCalls(Object.entries(VALUES).map(callOf))))
      await clickHouse.writer.insert(rows)
  })
  after(() => clickHouse.close())

  const page = { projectId: PROJECT, filter: null, sortBy: [], limit: null, offset: null }
  const found = async (operation: Operation, position = 10n * BigInt(ENDED)) =>
    (await callIds(clickHouse.reader)({ ...page, operation, position })).map(({ id }) => id)

  for (const [nth, path] of PATHS.entries())
    it(`are found at ${path} whether or not the text is required of the JSON`, async () => {
      for (const [at, text] of TEXTS.entries()) {
        const field = { $getField: path }
        const literal = { $literal: text }
        // Each text with each operation at one of the paths at least.
        const operation = (
          [
            { $eq: [field, literal] },
            { $eq: [literal, field] },
            { $contains: { input: field, substr: literal } },
            { $contains: { input: field, substr: literal, case_insensitive: true } },
          ] as Operation[]
        )[(nth + at) % 4]!
        // Only conjuncts require texts.
        const parsed = await found({ $or: [operation] })
        assert.deepEqual(await found(operation), parsed, JSON.stringify(operation))
      }
    })

  it('are not found by an output as of a position before the end', async () => {
    const operation: Operation = { $eq: [{ $getField: 'output.at' }, { $literal: 'customer-1' }] }
    assert.deepEqual(await found(operation, BigInt(ENDED - 1)), [])
    assert.deepEqual(await found(operation, BigInt(ENDED)), ['text'])
  })

  it('are sorted fewer times than there are parts when the order is not by start', async () => {
    let sorts = 0
    const reader: typeof clickHouse.reader = {
      ...clickHouse.reader,
      query: (...asked) => {
        if (asked[0].includes('OFFSET')) sorts += 1
        return clickHouse.reader.query(...asked)
      },
    }
    const sortBy = [{ field: 'inputs.at', direction: 'desc' }] as const
    const asked = { ...page, sortBy, operation: null, position: 10n * BigInt(ENDED) }
    const parts: string[][] = []
    for await (const part of callIdPages(reader, asked, 1)) parts.push(part.map(({ id }) => id))
    assert.deepEqual(
      parts.flat(),
      (await callIds(clickHouse.reader)(asked)).map(({ id }) => id),
    )
    assert.deepEqual(
      parts.map(({ length }) => length),
      [1, 2, 4, 2],
    )
    assert.equal(sorts, 4)
  })
})

describe('the texts that conditions require', () => {
  const required = (operation: Operation) => {
    const { ofStart, ofEnd } = requiredTexts([operation])
    return Object.values(statementOf(allOf([...ofStart, ...ofEnd])).parameters)
  }
  const equal = (field: string, $literal: Json): Operation => ({ $eq: [{ $getField: field }, { $literal }] })

  it('are those of payload fields whose JSON holds them as written', () => {
    assert.deepEqual(required(equal('inputs.user', 'customer-1')), ['customer-1'])
    assert.deepEqual(required(equal('output_dump', 'a b')), ['a b'])
  })

  it('are none when JSON may hold the value in another form', () => {
    for (const text of ['', '1', '1e20', 'inf', 'nan', 'a"b', 'a/b', 'é', 'x,y', 'a\nb', 5, true, null])
      assert.deepEqual(required(equal('inputs.user', text)), [], JSON.stringify(text))
    assert.deepEqual(required(equal('summary.weave.status', 'success')), [])
    const field = { $getField: 'inputs.user' }
    const substr = { $literal: 'customer' }
    assert.deepEqual(required({ $contains: { input: field, substr, case_insensitive: true } }), [])
  })
})
