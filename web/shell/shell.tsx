import { Button, Menu, Modal, Select, useMantineColorScheme } from '@mantine/core'
import { useHotkeys, useMediaQuery } from '@mantine/hooks'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { shortNumber } from '../kit/format.js'
import { useSession } from '../kit/session.js'
import { useKeys } from '../kit/keys.js'
import { PROJECT_PAGES, projectHref, TEAM_PAGES } from './pages.js'
import { AsOfBanner, AsOfDialog } from './as-of.js'
import { isPageAsOf } from '../kit/as-of-pages.js'
import { Palette } from './palette.js'
import { usePlace } from '../kit/place.js'
import { ProjectSwitcher } from '../kit/project-switcher.js'
import { useRailCounts } from './rail-counts.js'
import { useSetting, useZone } from '../kit/settings.js'

/** The frame of all pages: header, rail and the page itself. */
export const Shell = () => {
  const place = usePlace()
  const { user } = useSession()
  const isMember = (team: string) => user.teams.some((one) => one.team === team)
  const [lastTeam, setLastTeam] = useSetting('team', '')
  // Pages of no team keep the rail of the team that was open last.
  const team = place.team || (isMember(lastTeam) ? lastTeam : (user.teams[0]?.team ?? ''))
  const [lastProject, setLastProject] = useSetting(`project.${team}`, '')
  useEffect(() => {
    if (!isMember(place.team)) return
    setLastTeam(place.team)
    if (place.project !== '') setLastProject(place.project)
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the setters are other functions each time
  }, [place.team, place.project, user])
  // The pages of the team keep the way back to the project.
  const project = place.project === '' && team !== '' ? lastProject : place.project
  const [isRailOpen, setRailOpen] = useState(false)
  const [rail, setRail] = useSetting('rail', 'shown')
  const counts = useRailCounts(team)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [isAsOfShown, setAsOfShown] = useState(false)
  const [areKeysShown, setKeysShown] = useState(false)
  const isNarrow = useMediaQuery('(max-width: 767px)')
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const navigate = useNavigate()
  useEffect(() => setRailOpen(false), [path])
  const items = [
    ...(project === ''
      ? []
      : PROJECT_PAGES.map((item) => ({ ...item, to: projectHref(team, project, item.path) }))),
    ...(team === '' ? [] : TEAM_PAGES.map((item) => ({ ...item, to: `/${team}/-/${item.path}` }))),
  ]
  useHotkeys(
    [
      ['mod+K', () => setPaletteOpen(true)],
      ['mod+Enter', submitForm, { preventDefault: false }],
    ],
    [],
  )
  useKeys({
    '?': () => setKeysShown(true),
    ...Object.fromEntries(items.map(({ key, to }) => [`g ${key}`, () => void navigate({ href: to })])),
  })
  return (
    <div className="shell" data-rail={rail}>
      <a className="visually-hidden" href="#content">
        Skip to the content
      </a>
      <header>
        <Button
          variant="default"
          size="compact-sm"
          aria-expanded={isNarrow ? isRailOpen : rail === 'shown'}
          onClick={() =>
            isNarrow ? setRailOpen(!isRailOpen) : setRail(rail === 'shown' ? 'hidden' : 'shown')
          }
        >
          Menu
        </Button>
        <Link to="/" className="brand only-wide">
          Tallytree
        </Link>
        <ProjectSwitcher />
        <span className="spacer" />
        <Button variant="default" size="compact-sm" onClick={() => setPaletteOpen(true)}>
          Go to<span className="only-wide">&nbsp;…</span>
          <span className="secondary only-wide">&nbsp;Ctrl K</span>
        </Button>
        <AccountMenu onKeys={() => setKeysShown(true)} />
      </header>
      <nav aria-label="Pages" data-open={isRailOpen || undefined}>
        {project !== '' && <h2>{project}</h2>}
        {items
          .filter(({ to }) => !to.includes('/-/'))
          .map((item) => (
            <RailLink key={item.to} to={item.to} label={item.label} isExact={item.path === ''} />
          ))}
        {isPageAsOf(path) && (
          <button type="button" onClick={() => setAsOfShown(true)}>
            As of …
          </button>
        )}
        {team !== '' && <h2>{team}</h2>}
        {items
          .filter(({ to }) => to.includes('/-/'))
          .map((item) => (
            <RailLink key={item.to} to={item.to} label={item.label} count={counts[item.path]} />
          ))}
      </nav>
      <main id="content" tabIndex={-1}>
        <AsOfBanner onChange={() => setAsOfShown(true)} />
        <Outlet />
      </main>
      {isAsOfShown && <AsOfDialog onClose={() => setAsOfShown(false)} />}
      {isPaletteOpen && <Palette onClose={() => setPaletteOpen(false)} />}
      <Modal opened={areKeysShown} onClose={() => setKeysShown(false)} title="Keys">
        <KeyList />
      </Modal>
    </div>
  )
}

/** Submits the form that is being filled in, unless a field of it has used the key. */
const submitForm = ({ target, defaultPrevented }: KeyboardEvent): void => {
  if (!defaultPrevented && target instanceof Element) target.closest('form')?.requestSubmit()
}

const RailLink = ({
  to,
  label,
  count = 0,
  isExact = false,
}: {
  readonly to: string
  readonly label: string
  /** The pages below have links of their own. */
  readonly isExact?: boolean
  /** Of what failed. */
  readonly count?: number | undefined
}) => (
  <Link to={to} activeOptions={{ exact: isExact, includeSearch: false }}>
    {label}
    {count > 0 && <span style={{ color: 'var(--danger)' }}>{shortNumber(count)} failed</span>}
  </Link>
)

const ZONES = ['', 'UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

const AccountMenu = ({ onKeys }: { readonly onKeys: () => void }) => {
  const { user, signOut } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [, setZone] = useSetting('zone', '')
  const [chosen] = useSetting('zone', '')
  const zone = useZone()
  const [areZonesShown, setZonesShown] = useState(false)
  return (
    <>
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <Button variant="default" size="compact-sm">
            {user.user}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item component={Link} to="/-/account">
            Account and API keys
          </Menu.Item>
          <Menu.Divider />
          <Menu.Label>Theme</Menu.Label>
          {(['auto', 'light', 'dark'] as const).map((scheme) => (
            <Menu.Item
              key={scheme}
              onClick={() => setColorScheme(scheme)}
              rightSection={colorScheme === scheme ? '✓' : ''}
            >
              {scheme === 'auto' ? 'As the system' : scheme === 'light' ? 'Light' : 'Dark'}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setZonesShown(true)}>Time zone: {zone}</Menu.Item>
          <Menu.Item onClick={onKeys}>Keys</Menu.Item>
          <Menu.Divider />
          <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal opened={areZonesShown} onClose={() => setZonesShown(false)} title="Time zone">
        <Select
          label="All times, filters and charts use"
          searchable
          data-autofocus
          value={chosen}
          data={ZONES.map((value) => ({ value, label: value === '' ? 'The zone of this browser' : value }))}
          onChange={(value) => {
            setZone(value ?? '')
            setZonesShown(false)
          }}
        />
      </Modal>
    </>
  )
}

const KEYS: readonly (readonly [keys: string, action: string])[] = [
  ['Ctrl K', 'Find what has a name, or an action of the page'],
  ...[...PROJECT_PAGES, ...TEAM_PAGES].map(({ key, label }) => [`g ${key}`, label] as const),
  ['/', 'Search'],
  ['f', 'Add a filter'],
  ['j, k', 'Next and previous row, trace or turn'],
  ['x, X', 'Select the row, select all from the last one selected'],
  ['Enter, o', 'Open the row, open it in a new tab'],
  ['x', 'Select the run'],
  ['1 … 8', 'Open the trace of a run of the compared row'],
  ['[, ]', 'Earlier and later time range'],
  ['c', 'Columns, or compare the selected runs'],
  ['l', 'Live updates on and off'],
  ['↑ ↓ ← →', 'Move in the tree, close and open a call'],
  ['e', 'Next failed call'],
  ['p, s', 'Next call of the same op, next sibling'],
  ['z, 0', 'Zoom to the selected call, show the whole trace'],
  ['w', 'Mark the critical path of a trace'],
  ['m', 'Messages or JSON'],
  ['d', 'Compare the selected call with another one'],
  ['v', 'Messages, turns or details of a thread'],
  ['y', 'Copy the id of the selected call'],
  ['c, C', 'Copy the value or the path of a row of JSON'],
  ['Ctrl Enter', 'Save the form, or run the test'],
  ['Esc', 'Close'],
]

const KeyList = () => (
  <dl className="facts">
    {KEYS.map(([keys, action]) => (
      <div key={keys} style={{ display: 'contents' }}>
        <dt className="mono">{keys}</dt>
        <dd>{action}</dd>
      </div>
    ))}
  </dl>
)
