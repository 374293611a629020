import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { parseCheckpoint } from '../../src/kernel/tlog/note.js'
import { startAnsweringServer, type AnsweringServer } from '../support/answering-server.js'
import { describeInBrowser, launch } from '../support/browser.js'
import { startTestService, type TestService } from '../support/service.js'
import { until } from '../support/until.js'

const VERIFIER = new URL('../../bin/verify-log.mjs', import.meta.url)

describeInBrowser('the verifier of the log, in a browser', () => {
  let service: TestService
  let server: AnsweringServer
  let browser: Browser
  before(async () => {
    const verifier = await readFile(VERIFIER)
    service = await startTestService()
    server = await startAnsweringServer(({ url }, answer) => {
      answer.setHeader('content-type', url === '/verifier' ? 'text/javascript' : 'text/html')
      answer.end(url === '/verifier' ? verifier : '<!doctype html><title>Verify</title>')
    })
    browser = await launch()
  })
  after(async () => {
    await browser.close()
    await server.stop()
    await service.stop()
  })

  const textAt = async (path: string) => (await service.send('GET', path)).text

  it('builds the tree of the events, and compares it with a signed checkpoint', async () => {
    for (const id of ['one', 'two', 'three'])
      await service
        .in('team/p')
        .calls.start({ id, inputs: { text: 'Grüße 🙂 "}{"' } })
        .json()
    const written = (await textAt('/api/events')).trimEnd().split('\n').length
    let note = ''
    await until(async () => {
      note = await textAt('/api/log/checkpoint')
      return note.startsWith('localhost') && parseCheckpoint(note).size >= written
    })
    const lines = (await textAt('/api/events?seal=true')).trimEnd().split('\n')
    const { verifier_keys } = JSON.parse(await textAt('/api/log/checkpoints')) as {
      verifier_keys: readonly string[]
    }
    const page = await browser.newPage()
    await page.goto(server.url)
    const verify = (given: readonly string[]) =>
      page.evaluate(`(async () => {
        const { parseKey, verifyEvents } = await import('/verifier')
        const keys = await Promise.all(${JSON.stringify(verifier_keys)}.map(parseKey))
        const checked = await verifyEvents([${JSON.stringify(given)}], [${JSON.stringify(note)}], keys)
        return checked.map(({ size }) => size)
      })().catch((error) => error.message)`)

    assert.deepEqual(await verify(lines), [parseCheckpoint(note).size])
    const changed = lines.map((line) => line.replace('Grüße', 'Grusse'))
    assert.match(String(await verify(changed)), /^the first \d+ events are not those that were signed$/)
  })
})
