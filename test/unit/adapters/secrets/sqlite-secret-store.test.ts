import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { openInMemorySecretStore } from '../../../../src/adapters/secrets/in-memory-secret-store.js'
import { openSqliteSecretStore } from '../../../../src/adapters/secrets/sqlite-secret-store.js'
import { secretStoreContract } from '../../../contract/secrets/secret-store-contract.js'
import { inScratch, ringOf, someKey, spellingsOf } from './given.js'

const secret = (name: string, version = 1, team = 'team') => ({ team, name, version })

describe('the store of secrets in SQLite', () => {
  const ring = ringOf(someKey('one'))
  const fileIn = (directory: string) => join(directory, 'secrets.db')
  secretStoreContract((directory) => openSqliteSecretStore(fileIn(directory), ring))

  it('is for its owner alone, and keeps no value as it is', () =>
    inScratch(async (directory) => {
      const store = await openSqliteSecretStore(fileIn(directory), ring)
      const value = 'canary-5f0c1d9e-of-some-length'
      await store.put(secret('A'), value)
      await store.close()

      assert.equal(statSync(fileIn(directory)).mode & 0o777, 0o600)
      const content = readFileSync(fileIn(directory), 'latin1')
      for (const spelling of spellingsOf(value)) assert.ok(!content.includes(spelling))
    }))

  it('leaves nothing in its files of the ciphertext of what was destroyed, however rows were moved about', () =>
    inScratch(async (directory) => {
      const store = await openSqliteSecretStore(fileIn(directory), ring)
      const reader = new Database(fileIn(directory), { readonly: true })
      const rows = reader.prepare<[], { team: string; name: string; version: number; envelope: string }>(
        'SELECT team, name, version, rtrim(envelope) AS envelope FROM secrets',
      )
      const gone = new Set<string>()
      const action = fc.tuple(
        fc.integer({ min: 0, max: 12 }),
        fc.integer({ min: 1, max: 8192 }),
        fc.boolean(),
      )
      let version = 0
      for (const [place, length, destroys] of fc.sample(action, 150)) {
        version += 1
        if (!destroys) await store.put(secret(`N${place}`, version), 'x'.repeat(length))
        const row = rows.all()[place]
        if (!destroys || row === undefined) continue
        await store.destroy([row])
        gone.add(row.envelope)
      }
      reader.close()

      assert.deepEqual(readdirSync(directory), ['secrets.db'])
      const content = readFileSync(fileIn(directory), 'latin1')
      assert.ok(gone.size > 20)
      // 16 characters of it in a row, from anywhere behind the name of the key.
      for (const envelope of gone)
        for (let at = 8; at + 16 <= envelope.length; at += 16)
          assert.ok(!content.includes(envelope.slice(at, at + 16)), `at ${at} of ${envelope.length}`)
      await store.close()
    }))

  it('is used by several at once, and waits for the transaction of another', () =>
    inScratch(async (directory) => {
      const [one, other] = await Promise.all([1, 2].map(() => openSqliteSecretStore(fileIn(directory), ring)))
      const blocking = new Database(fileIn(directory))
      blocking.exec('BEGIN EXCLUSIVE')
      const waiting = [one!.put(secret('A'), 'first'), other!.put(secret('A'), 'second')]
      await new Promise((resolve) => setTimeout(resolve, 50))
      blocking.exec('COMMIT')
      blocking.close()

      const taken = await Promise.all(waiting)
      assert.deepEqual(taken.toSorted(), [false, true])
      const kept = taken[0] === true ? 'first' : 'second'
      assert.deepEqual([await one!.get(secret('A')), await other!.get(secret('A'))], [kept, kept])
      await Promise.all([one!.close(), other!.close()])
    }))

  it('says which keys it needs and does not have', () =>
    inScratch(async (directory) => {
      const store = await openSqliteSecretStore(fileIn(directory), ring)
      await store.put(secret('A'), 'value')
      assert.deepEqual(await store.missingKeys(), [])
      await store.close()

      const without = await openSqliteSecretStore(fileIn(directory), ringOf(someKey('two')))
      assert.deepEqual(await without.missingKeys(), ['one'])
      await assert.rejects(without.get(secret('A')), { name: 'SecretUnreadable', message: /"one"/ })
      await without.put(secret('B'), 'value')
      assert.equal(await without.get(secret('B')), 'value')
      await without.close()
    }))

  it('refuses a file of a later release, and one that is no database', () =>
    inScratch(async (directory) => {
      const later = new Database(fileIn(directory))
      later.pragma('user_version = 99')
      later.close()
      await assert.rejects(openSqliteSecretStore(fileIn(directory), ring), {
        name: 'SecretsUnavailable',
        message: /secrets.db: has schema version 99, this release supports 1/,
      })
      writeFileSync(fileIn(directory), 'x'.repeat(5000))
      await assert.rejects(openSqliteSecretStore(fileIn(directory), ring), {
        name: 'SecretsUnavailable',
        message: /secrets.db: the secret store failed \(SQLITE_NOTADB\)/,
      })
    }))
})

describe('the store of secrets in memory', () => {
  secretStoreContract(() => Promise.resolve(openInMemorySecretStore()))
})
