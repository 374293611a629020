import type { Services } from '../../../application/services.js'
import type { ValidationPorts } from '../../../application/webhooks/checks.js'
import type { AnyRoute } from '../../server/route.js'
import { actionsRoute, cancelRoute, resendRoute } from './actions.js'
import { backtestRoute } from './backtest.js'
import { deliveryDetailRoute } from './detail.js'
import { countsRoute, listOfAutomation, listOfTeam } from './list.js'
import { redriveRoute } from './redrive.js'
import { whyRoute } from './why.js'

export const deliveryRoutes = (services: Services & ValidationPorts): readonly AnyRoute[] => [
  listOfTeam(services),
  countsRoute(services),
  deliveryDetailRoute(services),
  resendRoute(services),
  cancelRoute(services),
  listOfAutomation(services),
  whyRoute(services),
  backtestRoute(services),
  redriveRoute(services),
  actionsRoute(services),
]
