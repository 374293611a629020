import type { Client } from '../../support/client.js'
import { accepted } from '../calls/given.js'
import type { Memory } from './memory.js'

/** The model that is there to be asked. */
export const SERVED = 'home/echo'

/** An upstream of the team at home, unless it is there still, and no limits of those who ask it. */
export const givenUpstream = async (service: Client, memory: Memory, baseUrl: string): Promise<void> => {
  const models = [{ id: SERVED, upstream_id: 'echo' }]
  const made = await service.post('/api/inference/upstreams', {
    name: 'echo',
    team: 'home',
    base_url: baseUrl,
    models,
  })
  if (made.status !== 409) memory.remember('inference', accepted(made))
  memory.remember('inference', accepted(await service.send('GET', '/api/inference/upstreams?team=home')))
  for (const team of ['home', 'default'])
    for (const { scope } of accepted(await service.send('GET', `/api/teams/${team}/limits`))[
      'data'
    ] as readonly { readonly scope: object }[])
      accepted(await service.send('PUT', `/api/teams/${team}/limits`, { scope }))
}
