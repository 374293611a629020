import type { Ports } from '../../kernel/ports/ports.js'
import type { SecretStore } from '../../kernel/ports/secret-store.js'
import type { Access } from '../../application/access/access.js'
import type { LiveUpstreams } from '../../gateway/upstreams/live-upstreams.js'

export interface Secrets {
  readonly ports: Pick<Ports, 'eventStore' | 'ids' | 'sha256'> & { readonly secrets: SecretStore }
  readonly access: Pick<Access, 'directory'>
  readonly liveUpstreams: Pick<LiveUpstreams, 'all'>
}

export const PATH = '/api/teams/:team/secrets'
