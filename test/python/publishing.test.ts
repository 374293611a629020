import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/kernel/json/json.js'
import { assertNoneRefused } from '../e2e/sdk-service.js'
import { startPythonSdk, type PythonSdk } from './python-sdk.js'

const PROJECT = 'team/publishing'
const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n, square: n * n }))

describe('objects that the Python package publishes', () => {
  let sdk: PythonSdk
  let printed: Readonly<Record<string, Json>> & { readonly versions: readonly string[] }
  before(async () => {
    sdk = await startPythonSdk()
    printed = await sdk.printed('publishing.py', [PROJECT])
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
      large: [12_000, 150],
      settings: { temperature: 0.5, nested: { tags: ['a', 'b'], none: null } },
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
