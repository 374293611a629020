import { completionClientTests, type CompletionClient } from '../../support/upstreams/completion-client.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { NPM_CLIENTS } from '../../support/upstreams/npm-clients.js'
import { startTestService, type TestService } from '../../support/service.js'

describe('a client of completions', () => {
  let service: TestService
  let gateway: Gateway
  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service)
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  for (const [name, open] of Object.entries(NPM_CLIENTS))
    describe(name, () => {
      let client: CompletionClient
      before(() => (client = open(`${service.address}/v1`, gateway.model)))
      completionClientTests(() => ({ client, gateway }))
    })
})
