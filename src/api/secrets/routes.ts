import type { AnyRoute } from '../server/route.js'
import { destroySecret } from './destroy.js'
import { listSecrets } from './list.js'
import type { Secrets } from './secrets.js'
import { storeSecret } from './store.js'

/** Secrets can be written and listed, never read. */
export const secretRoutes = (secrets: Secrets): readonly AnyRoute[] => [
  storeSecret(secrets),
  listSecrets(secrets),
  destroySecret(secrets),
]
