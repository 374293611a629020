import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import type { Json } from '../../src/domain/json/json.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../support/service.js'
import { operationsOf, type Description } from './description.js'
import { givenState, SECRET } from './given-state.js'
import { judgeBy } from './judge.js'
import { newMemory } from './memory.js'
import { requestsTo, type Planned } from './requests.js'
import { senderTo, written, type Sent } from './wire.js'

const SEED = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 10_000)
const AT_ONCE = 8

describe(`requests made from the description of the API (FUZZ_SEED=${SEED} FUZZ_REQUESTS=${REQUESTS})`, () => {
  let service: TestService
  before(async () => (service = await startTestService()))
  after(() => service.stop())

  it('are all answered as it says', async () => {
    const description = (await service.send('GET', '/openapi.json')).json<Description>()
    const operations = operationsOf(description)
    const areas = new Map(operations.map(({ template, tags }) => [template, tags[0] ?? '']))
    const own = (await service.send('GET', '/api/users/me/api-keys')).json<{ data: { id: string }[] }>()
    const memory = newMemory(new Set(['admin', 'member', ...own.data.map(({ id }) => id)]))
    const { memberKey } = await givenState(service, (template) => areas.get(template) ?? 'Calls', memory)
    const keys = { administrator: ADMINISTRATOR_KEY, member: memberKey, bad: 'not-a-key' }
    const judge = judgeBy(description, SECRET)
    const { send, close } = senderTo(service.address, AT_ONCE)

    const problems = new Map<string, string>()
    const statuses = new Map<string, Map<number, number>>()
    const ask = async (planned: Planned) => {
      const sent = written(planned, memory, keys)
      const { template, method } = planned.operation
      try {
        const received = await send(sent)
        if (received.status === 200 && planned.method === method) {
          if (received.headers['content-type']?.startsWith('application/json') && received.bytes.length < 1e5)
            memory.remember(planned.operation.tags[0] ?? '', JSON.parse(received.bytes.toString()) as Json)
        }
        const seen = statuses.get(`${method} ${template}`) ?? new Map<number, number>()
        seen.set(received.status, (seen.get(received.status) ?? 0) + 1)
        statuses.set(`${method} ${template}`, seen)
        for (const problem of judge(sent, received))
          note(problem, sent, `${received.status} ${received.bytes.toString().slice(0, 300)}`)
      } catch (error) {
        note(String(error), sent, '')
      }
    }
    const note = (problem: string, sent: Sent, answer: string) => {
      const key = `${sent.planned.method} ${sent.planned.operation.template}: ${problem}`
      if (!problems.has(key)) problems.set(key, `${told(sent)}\n    ${answer}`)
    }

    const requests = fc.oneof(...operations.map((one) => requestsTo(one, description)))
    let left = REQUESTS
    const chunk = 200
    const waiting: Planned[] = []
    const next = () => {
      if (left-- <= 0) return undefined
      if (waiting.length === 0)
        waiting.push(...fc.sample(requests, { numRuns: chunk, seed: SEED + left }))
      return waiting.pop()
    }
    const worker = async () => {
      for (let planned = next(); planned !== undefined; planned = next()) await ask(planned)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    close()
    if (process.env['FUZZ_TELL'])
      for (const [name, seen] of statuses) console.log(name, Object.fromEntries(seen))
    const report = [...problems].map(([key, where]) => `${key}\n    ${where}`)
    assert.equal(report.length, 0, `\n${report.length} problems\n${report.slice(0, 60).join('\n')}`)
  }).timeout(600_000)
})

const told = ({ planned, path, headers, bytes }: Sent): string =>
  `${planned.method} ${path.slice(0, 200)} ${planned.key} ${JSON.stringify(headers).slice(0, 300)} ${(bytes?.toString() ?? '').slice(0, 600)}`
