import assert from 'node:assert/strict'
import type { SecretStore } from '../../../src/kernel/ports/secret-store.js'
import { inScratch } from '../../unit/adapters/secrets/given.js'

const secret = (name: string, version = 1, team = 'team') => ({ team, name, version })

/** What every adapter of the secret store keeps; `open` is called for each test. */
export const secretStoreContract = (open: (directory: string) => Promise<SecretStore>) => {
  const given = (check: (store: SecretStore) => Promise<void>) => () =>
    inScratch(async (directory) => {
      const store = await open(directory)
      await check(store)
      await store.close()
    })

  it(
    'takes a value for a version once, and gives it back',
    given(async (store) => {
      assert.equal(await store.get(secret('A')), undefined)
      assert.equal(await store.put(secret('A'), 'first'), true)
      assert.equal(await store.put(secret('A'), 'second'), false)
      assert.equal(await store.get(secret('A')), 'first')
      assert.equal(await store.get(secret('A', 2)), undefined)
      assert.equal(await store.get(secret('A', 1, 'others')), undefined)
    }),
  )

  it(
    'lists teams, names and versions in order',
    given(async (store) => {
      for (const name of ['b', 'A', '_c', 'B'])
        for (const version of [10, 9, 2]) await store.put(secret(name, version), 'value')
      await store.put(secret('A', 1, 'another'), 'value')
      await store.confirm(secret('A', 9))

      assert.deepEqual(await store.teams(), ['another', 'team'])
      const names = async (after: string | undefined, limit: number) =>
        (await store.names('team', { after, limit })).map(({ name }) => name)
      assert.deepEqual(await names(undefined, 9), ['A', 'B', '_c', 'b'])
      assert.deepEqual(await names('A', 2), ['B', '_c'])
      assert.deepEqual(
        (await store.versions({ team: 'team', name: 'A' })).map(({ version, confirmed }) => [
          version,
          confirmed,
        ]),
        [
          [2, false],
          [9, true],
          [10, false],
        ],
      )
    }),
  )

  it(
    'destroys what it is told, and nothing else',
    given(async (store) => {
      for (const version of [1, 2, 3]) await store.put(secret('A', version), `value ${version}`)
      await store.destroy([secret('A', 1), secret('A', 3), secret('unknown')])
      await store.destroy([])

      const left = await Promise.all([1, 2, 3].map((version) => store.get(secret('A', version))))
      assert.deepEqual(left, [undefined, 'value 2', undefined])
      assert.equal(await store.put(secret('A', 1), 'again'), true)
    }),
  )
}
