import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, told, writesNothing } from '../calls/given.js'
import { createTable, rowsOf, updateTable } from './given.js'

const nested = (levels: number): Json => (levels === 0 ? 'core' : { in: nested(levels - 1) })

describe('a table', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const ROWS: Readonly<Record<string, readonly JsonObject[]>> = {
    'no rows': [],
    'an empty row': [{}],
    'rows of the same content': [{ a: 1 }, { b: 2 }, { a: 1 }, { a: 1.0 }],
    'odd text': [{ '': '\u0000\u2028"\\', "it's": '😀漢字', '{x:String}': "'; DROP TABLE table_rows --" }],
    'odd numbers': [{ a: [1e308, 5e-324, -0.5, 1e20, -(2 ** 63), 2 ** 64, 1e21, 0.1] }],
    'keys in any order': [{ z: 1, a: { y: 2, b: [{ d: 1, c: 2 }] } }],
    'keys of prototypes': [
      JSON.parse('{"__proto__": {"polluted": true}, "constructor": null}') as JsonObject,
    ],
    'a deep row': [{ deep: nested(250) }],
    'a row of a megabyte and more': [
      { a: 'x'.repeat(3_000_000) },
      { a: 1 },
      { a: '\u0001é'.repeat(400_000) },
    ],
    'many rows': Array.from({ length: 9000 }, (_, i) => ({ i, text: `row ${i}` })),
  }
  for (const [name, rows] of Object.entries(ROWS))
    it(`comes back as it was written: ${name}`, async () => {
      const project = someProject()
      const { digest, row_digests } = await createTable(service, project, rows)
      assert.match(digest, /^[0-9a-f]{64}$/)
      const read = await rowsOf(service, project, digest)
      assert.deepEqual(
        read.map(({ val }) => JSON.stringify(val)),
        rows.map((row) => JSON.stringify(row)),
      )
      assert.deepEqual(
        read.map((row) => row.digest),
        row_digests,
      )
      assert.deepEqual(
        read.map((row) => row.original_index),
        rows.map((_, index) => index),
      )
      await writesNothing(service, async () =>
        assert.deepEqual(await createTable(service, project, rows), { digest, row_digests }),
      )
      assert.deepEqual(accepted(await service.post('/table/query_stats', { project_id: project, digest })), {
        count: rows.length,
      })
    })

  it('has digests that follow the content alone, not the order of keys', async () => {
    const project = someProject()
    const first = await createTable(service, project, [{ a: 1, b: [2] }])
    assert.deepEqual(await createTable(service, project, [{ b: [2], a: 1 }]), first)
    assert.deepEqual(await createTable(service, someProject(), [{ a: 1, b: [2] }]), first)
    assert.notEqual((await createTable(service, project, [{ a: 1, b: [3] }])).digest, first.digest)
  })

  it('is made once when many make it at a time', async () => {
    const project = someProject()
    const rows = [{ a: 1 }, { a: 2 }]
    const made = await Promise.all(Array.from({ length: 8 }, () => createTable(service, project, rows)))
    assert.equal(new Set(made.map(({ digest }) => digest)).size, 1)
    const events = await eventsOf(service, `table-${project}/${made[0]!.digest}`)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['TableRowsStored', 'TablePublished'],
    )
    assert.equal(events[1]?.data['wb_user_id'], 'admin')
  })

  it('has half a surrogate pair replaced, as other text', async () => {
    const project_id = someProject()
    const text = `{"table":{"project_id":"${project_id}","rows":[{"a\\ud800":"\\udc00b"}]}}`
    const { digest } = accepted(await service.post('/table/create', text)) as { digest: string }
    const [row] = await rowsOf(service, project_id, digest)
    assert.deepEqual(row?.val, { 'a\ufffd': '\ufffdb' })
  })

  it('may be sent with what newer clients add', async () => {
    const project_id = someProject()
    const { digest } = await createTable(service, project_id, [{ a: 1 }])
    const rows = [{ a: 1 }]
    for (const expected_digest of [null, digest])
      accepted(await service.post('/table/create', { table: { project_id, rows, expected_digest } }))
    const other = await service.post('/table/create', {
      table: { project_id, rows, expected_digest: 'other' },
    })
    assert.match(reasonOf(other, 409), new RegExp(digest))
  })

  it('is strict', async () => {
    const project_id = someProject()
    const create = (table: unknown, more = {}) => service.post('/table/create', { table, ...more })
    assert.deepEqual(told(await create({})), ['missing table.project_id', 'missing table.rows'])
    assert.deepEqual(told(await create({ project_id, rows: [] }, { more: 1 })), ['extra_forbidden more'])
    assert.deepEqual(told(await create({ project_id, rows: {} })), ['list_type table.rows'])
    assert.deepEqual(told(await create({ project_id: 'nobody', rows: [] })), [
      'string_pattern_mismatch table.project_id',
    ])
    assert.deepEqual(told(await create({ project_id, rows: [{}, 7, null, [], 'x', {}] })), [
      'dict_type table.rows.1',
      'dict_type table.rows.2',
      'dict_type table.rows.3',
      'dict_type table.rows.4',
    ])
  })
})

describe('a request with too many rows', () => {
  it('is told how many a request may have', async () => {
    const service = await sharedService()
    const project = someProject()
    const rows = `[${'{},'.repeat(1_000_000)}{}]`
    const { digest } = await createTable(service, project, [{ a: 1 }])
    const updates = `[${'{"pop":{"index":0}},'.repeat(1_000_000)}{"pop":{"index":0}}]`
    const body = `"project_id":"${project}","base_digest":"${digest}"`

    const created = await service.post(
      '/table/create',
      `{"table":{"project_id":"${project}","rows":${rows}}}`,
    )
    const updated = await service.post('/table/update', `{${body},"updates":${updates}}`)

    for (const answer of [created, updated]) assert.match(reasonOf(answer, 413), /1000000 rows/)
  })
})

describe('a table made from digests', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('has the rows that they name, from any table of the project', async () => {
    const project_id = someProject()
    const a = await createTable(service, project_id, [{ a: 1 }, { a: 2 }])
    const b = await createTable(service, project_id, [{ b: 1 }])
    const row_digests = [b.row_digests[0]!, a.row_digests[1]!, b.row_digests[0]!]
    const made = await service.post('/table/create_from_digests', { project_id, row_digests })
    const { digest } = accepted(made) as { digest: string }
    assert.deepEqual(
      (await rowsOf(service, project_id, digest)).map(({ val }) => val),
      [{ b: 1 }, { a: 2 }, { b: 1 }],
    )
    assert.equal((await createTable(service, project_id, [{ b: 1 }, { a: 2 }, { b: 1 }])).digest, digest)
  })

  it('is the same as the one made of the rows', async () => {
    const project_id = someProject()
    const { digest, row_digests } = await createTable(service, project_id, [{ a: 1 }])
    await writesNothing(service, async () => {
      const made = accepted(await service.post('/table/create_from_digests', { project_id, row_digests }))
      assert.deepEqual(made, { digest })
    })
    const none = await service.post('/table/create_from_digests', { project_id, row_digests: [] })
    assert.equal(accepted(none)['digest'], (await createTable(service, project_id, [])).digest)
  })

  it('is a 404 that names the first row that is not there', async () => {
    const project_id = someProject()
    const { row_digests } = await createTable(service, project_id, [{ a: 1 }])
    const elsewhere = await createTable(service, someProject(), [{ a: 3 }])
    for (const missing of [
      elsewhere.row_digests[0]!,
      'a'.repeat(43),
      'short',
      '',
      "it's \u0000",
      'é'.repeat(43),
    ]) {
      const body = { project_id, row_digests: [...row_digests, missing, 'b'.repeat(43)] }
      const reason = reasonOf(await service.post('/table/create_from_digests', body), 404)
      assert.ok(reason.includes(` ${missing}.`), reason)
    }
    const long = { project_id, row_digests: ['x'.repeat(100_000)] }
    assert.ok(reasonOf(await service.post('/table/create_from_digests', long), 404).length < 200)
  })
})

describe('an update of a table', () => {
  let service: TestService
  before(async () => (service = await sharedService()))
  const [A, B, C] = [{ r: 'a' }, { r: 'b' }, { r: 'c' }]

  it('puts rows in and takes them out, one after the other', async () => {
    const project = someProject()
    const base = await createTable(service, project, [A, B])
    const [a, b] = base.row_digests
    const [c] = (await createTable(service, project, [C])).row_digests
    const { digest, updated } = await updateTable(service, project, base.digest, [
      { append: { row: C } },
      { pop: { index: 0 } },
      { insert: { index: 0, row: C } },
      { insert: { index: 3, row: A } },
    ])
    assert.deepEqual(updated, [c, a, c, a])
    assert.deepEqual(
      (await rowsOf(service, project, digest)).map((row) => row.digest),
      [c, b, c, a],
    )
    assert.deepEqual(
      (await rowsOf(service, project, base.digest)).map(({ val }) => val),
      [A, B],
    )
  })

  it('stores the content of new rows alone', async () => {
    const project = someProject()
    const base = await createTable(service, project, [A, B])
    const updates = [
      { append: { row: A } },
      { append: { row: C } },
      { append: { row: B } },
      { pop: { index: 3 } },
    ]
    const { digest } = await updateTable(service, project, base.digest, updates)
    const [published, ...more] = await eventsOf(service, `table-${project}/${digest}`)
    assert.deepEqual([published?.type, more.length], ['TablePublished', 0])
    await writesNothing(service, () => updateTable(service, project, base.digest, updates))
  })

  it('that changes nothing is the same table', async () => {
    const project = someProject()
    const { digest } = await createTable(service, project, [A, B])
    await writesNothing(service, async () => {
      assert.equal((await updateTable(service, project, digest, [])).digest, digest)
      const back = [{ append: { row: C } }, { pop: { index: 2 } }]
      assert.equal((await updateTable(service, project, digest, back)).digest, digest)
    })
  })

  it('names the index that is out of range', async () => {
    const project_id = someProject()
    const { digest: base_digest } = await createTable(service, project_id, [A, B])
    for (const [update, place] of [
      [{ pop: { index: 3 } }, 'pop'],
      [{ pop: { index: -1 } }, 'pop'],
      [{ insert: { index: 4, row: A } }, 'insert'],
      [{ insert: { index: -1, row: A } }, 'insert'],
      [{ pop: { index: 2 ** 62 } }, 'pop'],
    ] as const) {
      const updates = [{ append: { row: C } }, update]
      const answer = await service.in(project_id).tables.update({ base_digest, updates })
      assert.deepEqual(told(answer), [`value_error updates.1.${place}.index`])
      assert.match(answer.text, /out of range: the table has 3 rows/)
    }
  })

  it('is strict', async () => {
    const project_id = someProject()
    const { digest: base_digest } = await createTable(service, project_id, [A])
    const ask = async (updates: unknown) =>
      told(await service.in(project_id).tables.update({ base_digest, updates }))
    assert.deepEqual(await ask([{}, 7, { pop: { index: 0 }, append: { row: A } }]), [
      'union_tag_invalid updates.0',
      'union_tag_invalid updates.1',
      'union_tag_invalid updates.2',
    ])
    assert.deepEqual(await ask([{ append: { row: 7 } }]), ['dict_type updates.0.append.row'])
    assert.deepEqual(await ask([{ insert: { index: '0', row: A } }]), ['int_type updates.0.insert.index'])
    assert.deepEqual(await ask([{ pop: {} }]), ['missing updates.0.pop.index'])
  })
})

describe('a table that is not there', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('has no rows, and is a 404 with a reason where it is counted or updated', async () => {
    const project_id = someProject()
    const elsewhere = await createTable(service, someProject(), [{ a: 1 }])
    await createTable(service, project_id, [{ b: 1 }])
    for (const digest of [elsewhere.digest, 'a'.repeat(43), '', "it's \u0000", 'x'.repeat(100_000)]) {
      const asked = { project_id, digest }
      assert.deepEqual(accepted(await service.post('/table/query', asked)), { rows: [] })
      assert.equal((await service.post('/table/query_stream', asked)).text, '')
      assert.deepEqual(accepted(await service.post('/table/query_stats', asked)), { count: 0 })
      const update = { project_id, base_digest: digest, updates: [] }
      assert.match(reasonOf(await service.post('/table/update', update), 404), /^Table not found/)
    }
  })
})

describe('the rows of a table', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('are asked for by fields and values of which there are not too many', async () => {
    const project_id = someProject()
    const { digest } = await createTable(service, project_id, [{ a: 1 }])
    const ask = (more: object) => service.in(project_id).tables.query({ digest, ...more })
    const many = (length: number) => Array.from({ length }, (_, i) => String(i))
    reasonOf(await ask({ filter: { row_digests: many(8193) } }), 400)
    const fields = (list: readonly string[]) => list.map((field) => ({ field, direction: 'asc' }))
    assert.deepEqual(told(await ask({ sort_by: fields(many(17)) })), ['too_long sort_by'])
    assert.deepEqual(told(await ask({ sort_by: fields(['a', '.'.repeat(64)]) })), [
      'value_error sort_by.1.field',
    ])
    for (const field of ['', '.', 'a.', '.a', 'a..b', 'a\\'])
      assert.deepEqual(told(await ask({ sort_by: fields([field]) })), ['value_error sort_by.0.field'])
    assert.deepEqual(
      told(await ask({ sort_by: [{ field: 'a', direction: 'up' }], limit: -1, offset: 'x' })),
      ['greater_than_equal limit', 'int_type offset', 'literal_error sort_by.0.direction'],
    )
    accepted(await ask({ filter: { row_digests: many(8192) }, sort_by: fields(many(16)) }))
  })

  it('are sorted by numbers, then text, whichever way; what is neither comes last', async () => {
    const project_id = someProject()
    const values = ['b', 10, null, true, 9, [1], '10', 1e20, -1, { x: 1 }]
    const rows = [...values.map((value) => ({ 'a.b': { c: value } })), {}]
    const { digest } = await createTable(service, project_id, rows)
    const sorted = async (direction: string) => {
      const read = await rowsOf(service, project_id, digest, { sort_by: [{ field: 'a\\.b.c', direction }] })
      return read.map(({ original_index }) => original_index)
    }
    assert.deepEqual(await sorted('asc'), [8, 4, 1, 7, 6, 0, 3, 2, 5, 9, 10])
    assert.deepEqual(await sorted('desc'), [7, 1, 4, 8, 3, 0, 6, 2, 5, 9, 10])
  })
})

describe('the stats of tables', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('count rows, and bytes where that is asked for; unknown tables are left out', async () => {
    const project_id = someProject()
    const a = await createTable(service, project_id, [{ a: 1 }, { a: 1 }, { a: 'é' }])
    const b = await createTable(service, project_id, [])
    const ask = async (more: object) =>
      accepted(await service.post('/table/query_stats_batch', { project_id, ...more }))
    const digests = [b.digest, 'nothing', a.digest, 'z'.repeat(43), a.digest]
    assert.deepEqual(await ask({ digests }), {
      tables: [
        { count: 0, digest: b.digest, storage_size_bytes: null },
        { count: 3, digest: a.digest, storage_size_bytes: null },
      ],
    })
    assert.deepEqual(await ask({ digests, include_storage_size: true }), {
      tables: [
        { count: 0, digest: b.digest, storage_size_bytes: 0 },
        { count: 3, digest: a.digest, storage_size_bytes: 7 + 7 + 10 },
      ],
    })
    for (const none of [{}, { digests: null }, { digests: [] }])
      assert.deepEqual(await ask(none), { tables: [] })
    const many = { project_id, digests: Array.from({ length: 1001 }, (_, i) => String(i)) }
    reasonOf(await service.post('/table/query_stats_batch', many), 400)
  })
})
