import type { AnyRoute } from '../../server/route.js'
import { cancelRoute, resendRoute } from './actions.js'
import { backtestRoute } from './backtest.js'
import type { Deliveries } from './deliveries.js'
import { deliveryDetailRoute } from './detail.js'
import { listOfAutomation, listOfTeam } from './list.js'
import { redriveRoute } from './redrive.js'
import { whyRoute } from './why.js'

export const deliveryRoutes = (deliveries: Deliveries): readonly AnyRoute[] => [
  listOfTeam(deliveries),
  deliveryDetailRoute(deliveries),
  resendRoute(deliveries),
  cancelRoute(deliveries),
  listOfAutomation(deliveries),
  whyRoute(deliveries),
  backtestRoute(deliveries),
  redriveRoute(deliveries),
]
