import assert from 'node:assert/strict'
import { watchedReads } from '../../../src/composition/watched-reads.js'
import { ClickHouseUnavailable, ReadTooExpensive } from '../../../src/domain/ports/clickhouse.js'

const missing = new ClickHouseUnavailable('busy', 'ClickHouse cannot do it now: Error (107)')

describe('reads that are watched', () => {
  const given = () => {
    const said: string[] = []
    const note = (event: string) => void said.push(event)
    let refusal: Error | undefined
    const answer = () => (refusal === undefined ? Promise.resolve([]) : Promise.reject(refusal))
    const { reader, failing } = watchedReads(
      {
        query: answer,
        async *stream() {
          await answer()
          yield new Uint8Array()
        },
      },
      { error: note, info: note },
    )
    const query = async (error?: Error) => {
      refusal = error
      await reader.query('SELECT 1').catch(() => undefined)
      return failing()
    }
    const stream = async (error?: Error) => {
      refusal = error
      try {
        for await (const chunk of reader.stream('SELECT 1')) assert.equal(chunk.length, 0)
      } catch (thrown) {
        assert.equal(thrown, error)
      }
      return failing()
    }
    return { said, query, stream }
  }

  it('say why the last one failed until one succeeds, and log each change once', async () => {
    const { said, query, stream } = given()
    assert.equal(await query(), undefined)
    assert.equal(await query(missing), missing.message)
    assert.equal(await stream(missing), missing.message)
    assert.equal(await stream(), undefined)
    assert.deepEqual(said, ['reads.failed', 'reads.resumed'])
  })

  it('are not to blame for what was asked', async () => {
    const { said, query, stream } = given()
    assert.equal(await query(new ReadTooExpensive('memory')), undefined)
    assert.equal(await stream(new ReadTooExpensive('time')), undefined)
    assert.deepEqual(said, [])
  })
})
