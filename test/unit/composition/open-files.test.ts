import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { openFileLimit, requireOpenFiles } from '../../../src/adapters/system/open-file-limit.js'
import { startupMessage } from '../../../src/composition/startup-errors.js'
import { connectionLimit, listen } from '../../../src/api/server/http-server.js'
import { scratchDirectory } from '../../support/scratch.js'

type Fields = Readonly<Record<string, unknown>>

const saying = (now?: () => number, files = 1024) => {
  const said: Fields[] = []
  const warn = (event: string, fields: Fields = {}) => void said.push({ event, ...fields })
  return { said, connections: connectionLimit(files, { warn }, now)! }
}

describe('the files that a process may have open', () => {
  it('are as many as the system says, or nobody knows how many', async () => {
    const path = join(await scratchDirectory(), 'limits')
    for (const [soft, most] of [
      ['1024', 1024],
      ['unlimited', Infinity],
    ] as const) {
      await writeFile(path, `Max processes   95  95  processes\nMax open files   ${soft}   4096   files\n`)
      assert.equal(openFileLimit(path), most)
    }
    assert.equal(openFileLimit('/nowhere'), undefined)
  })

  it('must be as many as the engine takes, which is said in a sentence', () => {
    for (const most of [undefined, Infinity, 256]) requireOpenFiles(most)
    assert.throws(
      () => requireOpenFiles(128),
      (error: unknown) => startupMessage(error).startsWith('the limit of open files is 128, and'),
    )
  })

  it('are not all for clients', () => {
    const most = (files: number) => saying(undefined, files).connections.maximum
    assert.deepEqual([256, 512, 1024, 65_536].map(most), [64, 256, 768, 65_280])
    for (const files of [undefined, Infinity])
      assert.equal(connectionLimit(files, { warn: () => undefined }), undefined)
  })

  it('were too few for some clients, which is said at once, and then once a minute with how many', () => {
    let time = 0
    const { said, connections } = saying(() => time)
    for (const at of [0, 1, 59_999, 60_000, 60_001]) {
      time = at
      connections.onRefused()
    }
    assert.deepEqual(
      said.map(({ event, refused, most_connections }) => [event, refused, most_connections]),
      [
        ['connections.refused', 1, 768],
        ['connections.refused', 3, 768],
      ],
    )
  })

  it('leave other clients refused, and those that have a connection served', async () => {
    let refused = 0
    const limit = { maximum: 2, onRefused: () => (refused += 1) }
    const config = { host: '127.0.0.1', port: 0 }
    const { address, close } = await listen((_, answer) => answer.end('served'), config, limit)
    const clients = [1, 2, 3].map(() => connect(Number(new URL(address).port), '127.0.0.1').resume())
    await once(clients[2]!, 'close')
    clients[0]!.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
    const [served] = (await once(clients[0]!, 'data')) as [Buffer]
    for (const client of clients) client.destroy()
    await close()

    assert.match(String(served), /served/)
    assert.equal(refused, 1)
  })
})
