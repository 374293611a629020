import { join } from 'node:path'
import { ROOT } from '../support/compiled.js'
import { ADMINISTRATOR_KEY, startTestService } from '../support/service.js'
import { acceptanceEnvironment, assertPassed, GATEWAY_CLIENTS } from '../support/upstreams/acceptance.js'
import { run } from './run-program.js'

describe('the npm packages of OpenAI, Anthropic and the AI SDK', () => {
  it('get what an upstream answers in each API, its errors too', async () => {
    const service = await startTestService()
    try {
      const environment = {
        ...(await acceptanceEnvironment(service.address, ADMINISTRATOR_KEY)),
        MODULES: ROOT,
        // It asserts on time.
        ONLY: '^(?!openai: a slow stream)',
      }
      const program = join(GATEWAY_CLIENTS, 'gateway_acceptance.mjs')
      assertPassed(await run(process.execPath, [program], GATEWAY_CLIENTS, environment))
    } finally {
      await service.stop()
    }
  })
})
