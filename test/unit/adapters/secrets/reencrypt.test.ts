import assert from 'node:assert/strict'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { reencryptSecrets } from '../../../../src/adapters/secrets/reencrypt.js'
import { openSqliteSecretStore } from '../../../../src/adapters/secrets/sqlite-secret-store.js'
import { inScratch, ringOf, someKey } from './given.js'

const [old, young, lost] = [someKey('old'), someKey('young'), someKey('lost')]
const secret = (version: number) => ({ team: 'team', name: 'TOKEN', version })

describe('re-encrypting secrets', () => {
  const given = (check: (path: string) => Promise<void>) =>
    inScratch(async (directory) => {
      const path = join(directory, 'secrets.db')
      const store = await openSqliteSecretStore(path, ringOf(old))
      for (let version = 1; version <= 120; version += 1) await store.put(secret(version), `value ${version}`)
      await store.close()
      await check(path)
    })

  it('brings every value under the active key, so that the old one is not needed any more', () =>
    given(async (path) => {
      const noted: number[] = []
      const done = await reencryptSecrets(path, ringOf(young, old), (values) => void noted.push(values))

      assert.deepEqual(done, { activeKey: 'young', reencrypted: 120, already: 0, unreadable: new Map() })
      assert.deepEqual(noted, [50, 100, 120])
      const store = await openSqliteSecretStore(path, ringOf(young))
      assert.deepEqual(await store.missingKeys(), [])
      for (const version of [1, 57, 120]) assert.equal(await store.get(secret(version)), `value ${version}`)
      await store.close()
    }))

  it('goes on where it was cut off, and has nothing left to do afterwards', () =>
    given(async (path) => {
      const cut = (values: number) => {
        if (values === 100) throw new Error('cut off')
      }
      await assert.rejects(reencryptSecrets(path, ringOf(young, old), cut), { message: 'cut off' })

      const again = await reencryptSecrets(path, ringOf(young, old), () => undefined)
      assert.deepEqual([again.already, again.reencrypted], [100, 20])
      const third = await reencryptSecrets(path, ringOf(young, old), () => undefined)
      assert.deepEqual([third.already, third.reencrypted], [120, 0])
    }))

  it('goes on beside a service that reads, writes and destroys with both keys', () =>
    given(async (path) => {
      const service = await openSqliteSecretStore(path, ringOf(old, young))
      const running = reencryptSecrets(path, ringOf(young, old), () => undefined)
      for (let version = 1; version <= 60; version += 1) {
        assert.equal(await service.get(secret(version)), `value ${version}`)
        await service.put(secret(1000 + version), 'new')
        await service.destroy([secret(version)])
      }
      await running
      for (let version = 61; version <= 120; version += 1)
        assert.equal(await service.get(secret(version)), `value ${version}`)
      for (let version = 1; version <= 60; version += 1)
        assert.deepEqual(
          [await service.get(secret(version)), await service.get(secret(1000 + version))],
          [undefined, 'new'],
        )
      await service.close()
    }))

  it('leaves what it cannot read as it is, and counts it by the key it needs', () =>
    given(async (path) => {
      const other = await openSqliteSecretStore(path, ringOf(lost))
      await other.put(secret(500), 'under a key that is lost')
      await other.close()

      const done = await reencryptSecrets(path, ringOf(young, old), () => undefined)

      assert.deepEqual(done.unreadable, new Map([['lost', 1]]))
      assert.equal(done.reencrypted, 120)
      const again = await openSqliteSecretStore(path, ringOf(young, lost))
      assert.equal(await again.get(secret(500)), 'under a key that is lost')
      await again.close()
    }))

  it('leaves nothing of the ciphertext of before in the file', () =>
    given(async (path) => {
      const envelopes = () => {
        const db = new Database(path, { readonly: true })
        const all = db.prepare<[], string>('SELECT rtrim(envelope) FROM secrets').pluck().all()
        const content = db.serialize().toString('latin1')
        db.close()
        return { all, content }
      }
      const before = envelopes()
      await reencryptSecrets(path, ringOf(young, old), () => undefined)
      const { content } = envelopes()
      for (const envelope of before.all) assert.ok(!content.includes(envelope.slice(8, 40)))
    }))
})
