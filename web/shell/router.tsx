import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router'
import { isPageAsOf } from '../kit/as-of-pages.js'
import { parseSearch, printSearch, type Search } from '../kit/search.js'
import { Shell } from './shell.js'
import { HomePage } from './home-page.js'
import { Failed } from '../kit/states.js'
import { useTitle } from '../kit/title.js'

const root = createRootRoute({
  component: Shell,
  validateSearch: (search: Record<string, unknown>): Search => search as Search,
  errorComponent: ({ error, reset }) => (
    <div className="page">
      <Failed error={error as Error} what="This page" onRetry={reset} />
    </div>
  ),
  notFoundComponent: () => <NotFound />,
})

const NotFound = () => {
  useTitle('Page not found')
  return (
    <div className="page">
      <h1>Page not found</h1>
      <p>
        No page has this address. <a href="/">Go to the first page</a>
      </p>
    </div>
  )
}

const page = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component,
    ...(isPageAsOf(path) ? { search: { middlewares: [retainSearchParams<Search>(['as_of'])] } } : {}),
  })

const encoded = (params: object): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(params as Readonly<Record<string, string>>).map(([name, value]) => [
      name,
      encodeURIComponent(value),
    ]),
  )

/** A link of an SDK, or of an older address, leads to the page that shows the same. */
const leads = <Path extends string>(path: Path, to: (params: Readonly<Record<string, string>>) => string) =>
  createRoute({
    getParentRoute: () => root,
    path,
    beforeLoad: ({ params }) => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- how the router redirects
      throw redirect({ href: to(encoded(params)), replace: true })
    },
  })

const routeTree = root.addChildren([
  createRoute({ getParentRoute: () => root, path: '/', component: HomePage }),
  page(
    '/-/account',
    lazyRouteComponent(() => import('../account/account-page.js'), 'AccountPage'),
  ),
  page(
    '/$team/$project',
    lazyRouteComponent(() => import('../overview/overview-page.js'), 'OverviewPage'),
  ),
  page(
    '/$team/$project/usage',
    lazyRouteComponent(() => import('../usage/usage-page.js'), 'UsagePage'),
  ),
  page(
    '/$team/$project/traces',
    lazyRouteComponent(() => import('../traces/list-page.js'), 'TracesPage'),
  ),
  page(
    '/$team/$project/traces/$trace',
    lazyRouteComponent(() => import('../traces/trace-page.js'), 'TracePage'),
  ),
  page(
    '/$team/$project/threads',
    lazyRouteComponent(() => import('../threads/list-page.js'), 'ThreadsPage'),
  ),
  page(
    '/$team/$project/threads/$thread',
    lazyRouteComponent(() => import('../threads/thread-page.js'), 'ThreadPage'),
  ),
  page(
    '/$team/$project/compare',
    lazyRouteComponent(() => import('../compare/compare-page.js'), 'ComparePage'),
  ),
  page(
    '/$team/$project/calls/$call',
    lazyRouteComponent(() => import('../traces/call-link.js'), 'CallLink'),
  ),
  page(
    '/$team/$project/runs',
    lazyRouteComponent(() => import('../runs/list-page.js'), 'RunsPage'),
  ),
  page(
    '/$team/$project/runs/$run',
    lazyRouteComponent(() => import('../runs/run-page.js'), 'RunPage'),
  ),
  page(
    '/$team/$project/training',
    lazyRouteComponent(() => import('../training/list-page.js'), 'TrainingPage'),
  ),
  page(
    '/$team/$project/history',
    lazyRouteComponent(() => import('../history/history-page.js'), 'HistoryPage'),
  ),
  page(
    '/$team/$project/training/$model',
    lazyRouteComponent(() => import('../training/model-page.js'), 'TrainedModelPage'),
  ),
  page(
    '/$team/$project/training/$model/jobs/$job',
    lazyRouteComponent(() => import('../training/job-page.js'), 'TrainingJobPage'),
  ),
  page(
    '/$team/$project/evaluations',
    lazyRouteComponent(() => import('../evaluations/list-page.js'), 'EvaluationsPage'),
  ),
  page(
    '/$team/$project/evaluations/compare',
    lazyRouteComponent(() => import('../evaluations/compare-page.js'), 'ComparePage'),
  ),
  page(
    '/$team/$project/evaluations/rules',
    lazyRouteComponent(() => import('../evaluations/rules-page.js'), 'RulesPage'),
  ),
  page(
    '/$team/$project/evaluations/leaderboards',
    lazyRouteComponent(() => import('../evaluations/leaderboards-page.js'), 'LeaderboardsPage'),
  ),
  page(
    '/$team/$project/evaluations/leaderboards/$name',
    lazyRouteComponent(() => import('../evaluations/leaderboards-page.js'), 'LeaderboardPage'),
  ),
  page(
    '/$team/$project/evaluations/$run',
    lazyRouteComponent(() => import('../evaluations/run-page.js'), 'EvaluationRunPage'),
  ),
  page(
    '/$team/-/webhooks',
    lazyRouteComponent(() => import('../webhooks/list-page.js'), 'WebhooksPage'),
  ),
  page(
    '/$team/-/webhooks/new',
    lazyRouteComponent(() => import('../webhooks/webhook-page.js'), 'NewWebhookPage'),
  ),
  page(
    '/$team/-/webhooks/$id',
    lazyRouteComponent(() => import('../webhooks/webhook-page.js'), 'WebhookPage'),
  ),
  page(
    '/$team/-/deliveries',
    lazyRouteComponent(() => import('../webhooks/deliveries-page.js'), 'DeliveriesPage'),
  ),
  page(
    '/$team/-/deliveries/$id',
    lazyRouteComponent(() => import('../webhooks/delivery-page.js'), 'DeliveryPage'),
  ),
  page(
    '/$team/-/automations',
    lazyRouteComponent(() => import('../automations/list-page.js'), 'AutomationsPage'),
  ),
  page(
    '/$team/-/automations/new',
    lazyRouteComponent(() => import('../automations/automation-page.js'), 'NewAutomationPage'),
  ),
  page(
    '/$team/-/automations/$id',
    lazyRouteComponent(() => import('../automations/automation-page.js'), 'AutomationPage'),
  ),
  page(
    '/$team/-/gateway/{-$tab}',
    lazyRouteComponent(() => import('../gateway/gateway-page.js'), 'GatewayPage'),
  ),
  page(
    '/$team/-/gateway/upstreams/$id',
    lazyRouteComponent(() => import('../gateway/upstream-page.js'), 'UpstreamPage'),
  ),
  page(
    '/$team/-/settings/{-$tab}',
    lazyRouteComponent(() => import('../team/settings-page.js'), 'SettingsPage'),
  ),
  leads('/$team/$project/r/call/$call', ({ team, project, call }) => `/${team}/${project}/calls/${call}`),
  leads(
    '/$team/$project/weave/calls/$call',
    ({ team, project, call }) => `/${team}/${project}/calls/${call}`,
  ),
  page(
    '/$team/$project/objects/$name/$version',
    lazyRouteComponent(() => import('../objects/object-page.js'), 'ObjectPage'),
  ),
  ...(['objects', 'ops'] as const).map((kind) =>
    leads(
      `/$team/$project/weave/${kind}/$name/versions/$version`,
      ({ team, project, name, version }) => `/${team}/${project}/objects/${name}/${version}`,
    ),
  ),
  leads(
    '/$team/$project/weave/leaderboards/$name',
    ({ team, project, name }) => `/${team}/${project}/evaluations/leaderboards/${name}`,
  ),
  leads(
    '/$team/$project/weave/agents/conversations/$thread',
    ({ team, project, thread }) => `/${team}/${project}/threads/${thread}`,
  ),
  leads('/$team/$project/weave', ({ team, project }) => `/${team}/${project}/traces`),
  leads('/$team/$project/weave/traces', ({ team, project }) => `/${team}/${project}/traces`),
])

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch: printSearch,
  defaultPreload: 'intent',
  defaultPreloadDelay: 65,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
