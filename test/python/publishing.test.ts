import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { assertNoneRefused } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n, square: n * n }))

/** In the second one the package computes digests itself, and does not wait for those of the service. */
const MODES = [
  { mode: 'and waits for', project: 'waiting', environment: {} },
  {
    mode: 'with its own digests',
    project: 'digests',
    environment: { WEAVE_ENABLE_CLIENT_SIDE_DIGESTS: 'true' },
  },
]

for (const { mode, project, environment } of MODES)
  describe(`objects that the Python package publishes ${mode}`, () => {
    const PROJECT = `team/${project}`
    let sdk: PythonSdk
    let printed: Readonly<Record<string, Json>> & { readonly versions: readonly string[] }
    before(async () => {
      sdk = await startPythonSdk()
      printed = await sdk.printed('publishing.py', [PROJECT, '1000'], environment)
    })
    after(() => sdk.stop())

    const rowsOf = async (ref: string) => {
      const { vals } = await sdk.answered<{ vals: [{ rows: string }] }>('/refs/read_batch', { refs: [ref] })
      const { rows } = await sdk.answered<{ rows: readonly { val: Json }[] }>('/table/query', {
        project_id: PROJECT,
        digest: vals[0].rows.split('/').at(-1)!,
      })
      return rows.map(({ val }) => val)
    }

    it('are read back by the package', () => {
      const { versions, ...read } = printed
      assert.equal(new Set(versions).size, 3)
      assert.deepEqual(read, {
        latest: numbers(7),
        first: numbers(5),
        selected: [numbers(2)[1], { n: 3, square: 9 }],
        extended: 8,
        aliased: 7,
        tags: ['reviewed'],
        aliases: ['production'],
        all_tags: ['reviewed'],
        large: [1000, 150],
        settings: { temperature: 0.5, nested: { tags: ['a', 'b'], none: null } },
        kinds: ['1.0', '1', '-0.0', '1e+16'],
        prompt: [{ role: 'user', content: 'Greet Ada' }],
        place: 'Lima: 10000000',
        picture: [
          [4, 3],
          [255, 0, 0],
        ],
        op: 'Quito: 3',
        deleted: 1,
      })
    })

    it('have the rows of each version of a dataset', async () => {
      const rows = await Promise.all(printed.versions.map(rowsOf))
      assert.deepEqual(rows, [numbers(5), numbers(7), numbers(8)])
    })

    it('have versions, of which equal ones are one', async () => {
      const { objs } = await sdk.answered<{ objs: readonly JsonObject[] }>('/objs/query', {
        project_id: PROJECT,
        filter: { object_ids: ['numbers', 'capital', 'settings'] },
      })
      assert.deepEqual(
        objs
          .map(({ object_id, version_index, base_object_class, is_latest }) => [
            object_id,
            version_index,
            base_object_class,
            is_latest,
          ])
          .sort(),
        [
          ['capital', 0, 'Place', 1],
          ['numbers', 0, 'Dataset', 0],
          ['numbers', 1, 'Dataset', 0],
          ['numbers', 2, 'Dataset', 1],
        ],
      )
    })

    it('had no request refused', () => assertNoneRefused(sdk.proxy))
  })

describe('objects that the Python package publishes through its write-ahead log', () => {
  const PROJECT = 'team/wal'
  let sdk: PythonSdk
  before(async () => (sdk = await startPythonSdk()))
  after(() => sdk.stop())

  it('have the digests that their references have', async () => {
    const environment = { WEAVE_ENABLE_WAL: 'true', WEAVE_ENABLE_CLIENT_SIDE_DIGESTS: 'true' }
    assert.deepEqual(await sdk.printed('publishing_by_log.py', [PROJECT], environment), {
      rows: ['1.0', '1', 'é'],
      nested: 0.5,
      model: 'Lima: 3',
      called: 2,
    })
    assertNoneRefused(sdk.proxy)
  })
})
