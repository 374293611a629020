import { Modal, TextInput, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState, type KeyboardEvent } from 'react'
import { Name } from '../kit/marked.js'
import { useFoundThings } from './found-things.js'
import { pageActions } from './page-actions.js'
import { PROJECT_PAGES, projectHref, TEAM_PAGES } from './pages.js'
import { usePlace } from '../kit/place.js'
import { useNamedThings, type Target } from './named-things.js'
import { useProjects } from '../kit/project-switcher.js'

const MAX_FOUND = 24

const SCHEMES = [
  ['Light theme', 'light'],
  ['Dark theme', 'dark'],
  ['Theme of the system', 'auto'],
] as const

interface Choice extends Omit<Target, 'href'> {
  readonly id: string
  readonly choose: () => void
}

/** Goes to what has a name or to a pasted id, and does what the buttons of the page do, by typing. */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => {
  const place = usePlace()
  const { team, project } = place
  const { projects } = useProjects()
  const ofTeam = useNamedThings(team)
  const navigate = useNavigate()
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(0)
  const text = wanted.trim().toLowerCase()
  const foundInProject = useFoundThings(place, text)
  const { setColorScheme } = useMantineColorScheme()
  const [ofPage] = useState(pageActions)
  const act = (group: string, label: string, run: () => void): Choice => ({
    label,
    group,
    id: label,
    // Once the palette has given the focus back.
    choose: () => setTimeout(run),
  })
  const all: readonly Target[] = [
    ...(project === '' ? [] : PROJECT_PAGES).map(({ label, path }) => ({
      label,
      group: project,
      href: projectHref(team, project, path),
    })),
    ...(team === '' ? [] : TEAM_PAGES).map(({ label, path }) => ({
      label,
      group: team,
      href: `/${team}/-/${path}`,
    })),
    ...ofTeam,
    { label: 'Account and API keys', group: 'Account', href: '/-/account' },
    ...projects.map((one) => ({
      label: `${one.team} / ${one.name}`,
      group: 'Project',
      href: projectHref(one.team, one.name, ''),
    })),
  ]
  const byId: readonly Target[] =
    project !== '' && /^[\w-]{8,}$/.test(wanted.trim())
      ? [
          {
            label: `Call or trace ${wanted.trim()}`,
            group: project,
            href: `/${team}/${project}/calls/${encodeURIComponent(wanted.trim())}`,
          },
        ]
      : []
  const actions = [
    ...ofPage.map(({ label, run }) => act('This page', label, run)),
    ...SCHEMES.map(([label, scheme]) => act('Action', label, () => setColorScheme(scheme))),
  ]
  const link = (target: Target): Choice => ({
    ...target,
    id: target.href,
    choose: () => void navigate({ href: target.href }),
  })
  const named = ({ label }: { readonly label: string }) => label.toLowerCase().includes(text)
  const found = [
    ...all.filter(named).map(link),
    ...(text === '' ? [] : actions.filter(named)),
    ...[...foundInProject, ...byId].map(link),
  ].slice(0, MAX_FOUND)
  const go = (choice: Choice | undefined) => {
    if (choice === undefined) return
    onClose()
    choice.choose()
  }
  const press = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
    const move = moves[event.key]
    if (move !== undefined) {
      event.preventDefault()
      const next = (at + move + found.length) % Math.max(1, found.length)
      setAt(next)
      document.getElementById(`palette-${next}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') go(found[at])
  }
  return (
    <Modal opened onClose={onClose} title="Go to" padding="sm" yOffset="10vh">
      <TextInput
        aria-label="A name, an action, or the id of a trace or call"
        placeholder="A name, an action, or the id of a trace or call"
        role="combobox"
        aria-expanded
        aria-controls="palette"
        aria-activedescendant={`palette-${at}`}
        data-autofocus
        value={wanted}
        onChange={(event) => {
          setWanted(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={press}
      />
      <div id="palette" role="listbox" aria-label="Results" style={{ marginTop: 8 }}>
        {found.map((choice, n) => (
          <div
            key={`${choice.group} ${choice.label} ${choice.id}`}
            id={`palette-${n}`}
            role="option"
            aria-selected={n === at}
            className="palette-option"
            onMouseMove={() => setAt(n)}
            onClick={() => go(choice)}
          >
            <span>
              <Name text={choice.label} />
            </span>
            <span className="secondary">
              <Name text={choice.group} />
            </span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="secondary">Nothing has this name.</p>}
    </Modal>
  )
}
