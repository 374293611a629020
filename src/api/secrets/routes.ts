import type { AnyRoute } from '../server/route.js'
import { destroySecret } from './destroy.js'
import { listSecrets } from './list.js'
import type { GatewayServices } from '../../gateway/gateway.js'
import { storeSecret } from './store.js'

/** Secrets can be written and listed, never read. */
export const secretRoutes = (
  services: Pick<GatewayServices, 'eventStore' | 'ids' | 'sha256' | 'access' | 'secrets' | 'gateway'>,
): readonly AnyRoute[] => [storeSecret(services), listSecrets(services), destroySecret(services)]
