import assert from 'node:assert/strict'
import { aCompleted, anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import type { TestService } from '../../support/service.js'
import { feedbackOf, someFeedback } from '../feedback/given.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, rejectedIn, told, writesNothing } from './given.js'

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const LONG = 'x'.repeat(300)

/** Changes one field of a JSON text, also to what JSON.stringify cannot write. */
const withField = (element: object, name: string, text: string): string =>
  JSON.stringify({ ...element, [name]: 'REPLACED' }).replace('"REPLACED"', text)

/** What can be wrong with a start: the field, its JSON text, and the problem. */
const BAD_FIELDS: readonly (readonly [field: string, text: string, problem: string])[] = [
  ['started_at', 'NaN', 'datetime_from_date_parsing'],
  ['started_at', '1e400', 'datetime_from_date_parsing'],
  ['started_at', '7', 'datetime_type'],
  ['started_at', '"yesterday"', 'datetime_from_date_parsing'],
  ['op_name', 'null', 'string_type'],
  ['op_name', `"${'x'.repeat(9000)}"`, 'string_too_long'],
  ['id', `"${LONG}"`, 'string_too_long'],
  ['id', '7', 'string_type'],
  ['id', '"a\\u0000b"', 'string_pattern_mismatch'],
  ['trace_id', `"${LONG}"`, 'string_too_long'],
  ['parent_id', '{}', 'string_type'],
  ['inputs', 'NaN', 'dict_type'],
  ['inputs', '[1, Infinity]', 'dict_type'],
  ['attributes', 'null', 'dict_type'],
  ['wb_run_step', 'NaN', 'int_type'],
  ['wb_run_step', '-Infinity', 'int_type'],
  ['wb_run_step', '1e400', 'int_type'],
  ['project_id', '"no-project"', 'string_pattern_mismatch'],
  ['project_id', 'NaN', 'string_pattern_mismatch'],
]
const BAD_ELEMENTS = ['7', 'null', 'NaN', 'Infinity', '1e400', '[]', '"text"', 'true', '{}']

describe('one bad element', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const post = (path: string, elements: readonly string[]) =>
    service.post(path, `{"batch": [${elements.join(',')}]}`)
  const isRead = async (project: string, ...ids: readonly string[]) => {
    for (const id of ids) assert.equal((await service.in(project).calls.read(id))?.id, id)
  }

  for (const [field, text, problem] of BAD_FIELDS)
    it(`with ${field} ${text.slice(0, 30)} refuses only itself, among starts and complete calls`, async () => {
      const project = someProject()
      const start = (id: string) => JSON.stringify(startItem(aStart(project, { id })))
      const bad = `{"mode":"start","req":{"start":${withField(aStart(project, { id: 'bad' }), field, text)}}}`
      const starts = await post('/call/upsert_batch', [start('a'), bad, start('b')])
      assert.deepEqual(rejectedIn(starts), [`${problem} 1.req.start.${field}`])
      const complete = (id: string) => JSON.stringify(aCompleted(project, { id }))
      const calls = [complete('c'), withField(aCompleted(project, { id: 'bad' }), field, text), complete('d')]
      assert.deepEqual(rejectedIn(await post(`/v2/${project}/calls/complete`, calls)), [
        `${problem} 1.${field}`,
      ])
      await isRead(project, 'a', 'b', 'c', 'd')
      const alone = await service.post('/call/start', `{"start":${withField(aStart(project), field, text)}}`)
      assert.deepEqual(told(alone), [`${problem} start.${field}`])
    })

  for (const [field, text, problem] of [
    ['ended_at', 'NaN', 'datetime_from_date_parsing'],
    ['summary', 'NaN', 'dict_type'],
    ['summary', 'null', 'dict_type'],
    ['exception', '[]', 'string_type'],
    ['id', `"${LONG}"`, 'string_too_long'],
    ['wb_run_step_end', 'Infinity', 'int_type'],
  ] as const)
    it(`with ${field} ${text.slice(0, 30)} refuses only itself, among ends`, async () => {
      const project = someProject()
      const items = [startItem(aStart(project, { id: 'a' })), endItem(anEnd(project, 'a'))]
      const bad = `{"mode":"end","req":{"end":${withField(anEnd(project, 'a'), field, text)}}}`
      const answer = await post('/call/upsert_batch', [
        JSON.stringify(items[0]),
        bad,
        JSON.stringify(items[1]),
      ])
      assert.deepEqual(rejectedIn(answer), [`${problem} 1.req.end.${field}`])
      assert.ok((await service.in(project).calls.read('a')).ended_at)
      const alone = await service.post('/call/end', `{"end":${withField(anEnd(project, 'a'), field, text)}}`)
      assert.deepEqual(told(alone), [`${problem} end.${field}`])
    })

  it('of any other shape, mode or depth refuses only itself, and the answer names each', async () => {
    const project = someProject()
    const start = (id: string) => JSON.stringify(startItem(aStart(project, { id })))
    const complete = (id: string) => JSON.stringify(aCompleted(project, { id }))
    const tooDeep = (text: string) => text.replace('"inputs":{}', `"inputs":{"a":${deep(100_000)}}`)
    const bad = [
      ...BAD_ELEMENTS,
      start('x').replace('"start"', '"finish"'),
      start('x').replace('"start"', 'NaN'),
      tooDeep(start('x')),
    ]
    const batch = bad.flatMap((text, n) => [start(`a${n}`), text, start(`b${n}`)])
    assert.deepEqual(
      rejectedIn(await post('/call/upsert_batch', batch)),
      bad.map((_, n) => `${n === bad.length - 1 ? 'recursion_depth' : 'value_error'} ${3 * n + 1}`),
    )
    const calls = [...BAD_ELEMENTS, tooDeep(complete('y'))].flatMap((text, n) => [text, complete(`c${n}`)])
    assert.equal(rejectedIn(await post(`/v2/${project}/calls/complete`, calls)).length, 10)
    assert.equal((await service.in(project).calls.ids()).length, 2 * bad.length + 10)
  })

  it('that an event cannot hold, or of another project, refuses only itself', async () => {
    const project = someProject()
    const usage = Object.fromEntries(Array.from({ length: 9000 }, (_, n) => [`model-${n}`, { requests: n }]))
    const batch = [
      startItem(aStart(project, { id: 'a' })),
      endItem(anEnd(project, 'a', { summary: { usage } })),
      startItem(aStart('somebody/else', { id: 'a', project_id: 'not a project' })),
      startItem(aStart(project, { id: 'b', inputs: { big: 'y'.repeat(3_000_000) } })),
      endItem(anEnd(project, 'a')),
    ]
    const answer = await service.post('/call/upsert_batch', { batch })
    assert.deepEqual(rejectedIn(answer), ['value_error 1', 'string_pattern_mismatch 2.req.start.project_id'])
    await isRead(project, 'a', 'b')
    assert.ok((await service.in(project).calls.read('a')).ended_at)
  })

  it('keeps NaN, Infinity and 1e400 of inputs and outputs as text, beside others', async () => {
    const project = someProject()
    const start = (id: string, inputs: string) =>
      `{"mode":"start","req":{"start":${withField(aStart(project, { id }), 'inputs', inputs)}}}`
    const batch = [
      start('a', '{}'),
      start('b', '{"a": NaN, "l": [1, Infinity], "n": -1e400}'),
      start('c', '{}'),
    ]
    const end = withField(anEnd(project, 'b'), 'output', '[NaN, 1e999, {"a": -Infinity}]')
    batch.push(`{"mode":"end","req":{"end":${end}}}`)
    assert.deepEqual(rejectedIn(await post('/call/upsert_batch', batch)), [])
    const { inputs, output } = await service.in(project).calls.read('b')
    assert.deepEqual(inputs, { a: 'NaN', l: [1, 'Infinity'], n: '-Infinity' })
    assert.deepEqual(output, ['NaN', 'Infinity', { a: '-Infinity' }])
    await isRead(project, 'a', 'c')
  })

  it('with NaN among its usage counts nothing for it, beside others', async () => {
    const project = someProject()
    const end = (id: string, tokens: string) =>
      `{"mode":"end","req":{"end":${withField(anEnd(project, id), 'summary', `{"usage":{"m":{"prompt_tokens":${tokens},"requests":1}}}`)}}}`
    const batch = ['a', 'b', 'c'].map((id) => JSON.stringify(startItem(aStart(project, { id }))))
    batch.push(end('a', '5'), end('b', 'NaN'), end('c', '1e400'))
    assert.deepEqual(rejectedIn(await post('/call/upsert_batch', batch)), [])
    const { call_usage } = await service.in(project).usage.ofTraces().json()
    assert.deepEqual(
      ['a', 'b', 'c'].map((id) => call_usage[id].m.prompt_tokens),
      [5, 0, 0],
    )
  })

  it('of feedback refuses the batch, and the answer names each with its field', async () => {
    const project = someProject()
    const good = JSON.stringify(someFeedback(project))
    const bad = [
      ['7', 'model_attributes_type', ''],
      ['null', 'model_attributes_type', ''],
      ['NaN', 'model_attributes_type', ''],
      [withField(someFeedback(project), 'payload', 'NaN'), 'dict_type', '.payload'],
      [withField(someFeedback(project), 'id', `"${LONG}"`), 'string_too_long', '.id'],
      [withField(someFeedback(project), 'project_id', '"x"'), 'string_pattern_mismatch', '.project_id'],
    ] as const
    await writesNothing(service, async () => {
      const batch = bad.flatMap(([text]) => [good, text])
      assert.deepEqual(
        told(await post('/feedback/batch/create', batch)),
        bad.map(([, problem, place], n) => `${problem} batch.${2 * n + 1}${place}`),
      )
      const tooDeep = withField(someFeedback(project), 'payload', `{"a":${deep(300)}}`)
      assert.deepEqual(told(await post('/feedback/batch/create', [good, tooDeep, good])), [
        'recursion_depth batch.1.payload.a',
      ])
    })
    accepted(
      await post('/feedback/batch/create', [
        good,
        withField(someFeedback(project), 'payload', '{"v": [1, Infinity]}'),
      ]),
    )
    const payloads = (await feedbackOf(service, project)).map(({ payload }) => JSON.stringify(payload))
    assert.deepEqual(payloads.toSorted(), ['{"score":1}', '{"v":[1,"Infinity"]}'])
  })

  it('of a table refuses the table, and the answer names each row', async () => {
    const project = someProject()
    const create = (rows: string) =>
      service.post('/table/create', `{"table":{"project_id":"${project}","rows":[${rows}]}}`)
    await writesNothing(service, async () => {
      assert.deepEqual(
        told(await create(`{"a":1},7,{"a":2},null,[],NaN,1e400,"x"`)),
        [1, 3, 4, 5, 6, 7].map((at) => `dict_type table.rows.${at}`),
      )
      assert.deepEqual(told(await create(`{"a":1},{"b":{"c":${deep(300)}}},{"a":2}`)), [
        'recursion_depth table.rows.1.b',
      ])
    })
    const { digest } = accepted(await create('{"a":1},{"a":NaN},{"a":[1,Infinity]},{"a":1e400}'))
    const { rows } = await service.in(project).tables.query({ digest }).json()
    assert.deepEqual(
      (rows as readonly { val: unknown }[]).map(({ val }) => val),
      [{ a: 1 }, { a: 'NaN' }, { a: [1, 'Infinity'] }, { a: 'Infinity' }],
    )
    const update = (updates: string) =>
      service.post(
        '/table/update',
        `{"project_id":"${project}","base_digest":"${digest as string}","updates":[${updates}]}`,
      )
    const append = '{"append":{"row":{"a":2}}}'
    await writesNothing(service, async () => {
      assert.deepEqual(told(await update(`${append},{"append":{"row":NaN}},{"pop":{"index":NaN}},7`)), [
        'dict_type updates.1.append.row',
        'int_type updates.2.pop.index',
        'union_tag_invalid updates.3',
      ])
      assert.deepEqual(told(await update(`${append},{"append":{"row":{"a":${deep(300)}}}}`)), [
        'recursion_depth updates.1.append.row',
      ])
    })
  })

  it('of an object keeps NaN as text, and a digest or a name that is NaN is refused', async () => {
    const project = someProject()
    const create = (id: string, val: string) =>
      service.post('/obj/create', `{"obj":{"project_id":"${project}","object_id":${id},"val":${val}}}`)
    const { digest } = accepted(await create('"o"', '{"a": NaN, "b": [1, Infinity], "c": 1e400}'))
    const { obj } = await service.in(project).objects.read({ object_id: 'o', digest }).json()
    assert.deepEqual(obj.val, { a: 'NaN', b: [1, 'Infinity'], c: 'Infinity' })
    assert.equal((await create('"o"', '{NaN: 1}')).status, 422)
  })
})
