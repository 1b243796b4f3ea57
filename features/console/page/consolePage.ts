import type { ConsoleCore } from "../consoleCore.ts";
import { buildInfo, type WhenOff } from "../../../src/operation/index.ts";
import type { PagePart, PageSection } from "../../../libraries/ui/consolePart.ts";
import { documentFrame, joinModules, readAsset, readStyle, sharedStyle } from "../../../libraries/ui/documentFrame.ts";
import { html, type Html } from "../../../libraries/ui/html.ts";
import { fillBar, section, timeAt, titleOf } from "../../../libraries/ui/parts.ts";
import { bytes, counted, formatNumber, secondOfDay, timeOfDay } from "../../../libraries/ui/wording.ts";
import type { CacheView } from "../cacheView.ts";
import type { StoredView } from "../storedView.ts";
import { headline } from "./headline.ts";
import { storedForm } from "./storedForm.ts";
import { causesOf, lightsBar } from "./lights.ts";
import { calmSentence, interfacesOf, trafficSection } from "./trafficSection.ts";

/**
 * Assembles the page from the core's sections and the loaded parts of features. `address`: where the
 * new interface is served.
 */
export const openConsolePage = (
  core: ShownCore,
  cacheView: () => CacheView,
  loaded: readonly PagePart[],
  address: string,
) => {
  const frame = documentFrame(styleOf(loaded), [scriptOf(loaded)], ["connect-src 'self'", "frame-ancestors 'none'"]);
  const head = html`<meta name="robots" content="noindex" />`;
  const about = html`At <code>${address}</code>, started ${timeAt(new Date(performance.timeOrigin).toISOString())}`;
  const dialogs = loaded.map((part) => part.dialogs ?? "");
  const renderDocument = (title: string, content: Html): Html =>
    frame.render({ title, head, body: html`<div id="page">${content}</div>` });
  return {
    headers: {
      "Content-Security-Policy": frame.policy,
      "Referrer-Policy": "no-referrer",
      "Cross-Origin-Opener-Policy": "same-origin",
      "Cross-Origin-Resource-Policy": "same-origin",
      "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    },
    render: (now: Date, query: URLSearchParams, stored: StoredView | undefined): Html => {
      const { title, content } = contentOf(core, cacheView, loaded, { now, query, address, about, stored });
      return renderDocument(
        title,
        html`${content} ${dialogs}
          <p id="message" role="status"></p>`,
      );
    },
    /** The page without a token: only a form that takes the token. */
    renderSignIn: (): Html => renderDocument("Sign in", signInForm()),
  };
};

const asset = (file: string): URL => new URL(file, import.meta.url);
const uiAsset = (file: string): URL => new URL(`../../../libraries/ui/${file}`, import.meta.url);

const styleOf = (parts: readonly PagePart[]): string =>
  [sharedStyle(), readStyle(asset("page.css")), ...parts.map(({ style }) => style ?? "")].join("\n");

/** One module, since the browser could not load others with the token. Each part's script has a scope of its own. */
const scriptOf = (parts: readonly PagePart[]): string =>
  [
    readAsset(new URL(import.meta.resolve("#vendor/idiomorph/dist/idiomorph.min.js"))),
    joinModules(["remembered.js", "request.js", "messages.js"].map((file) => uiAsset(`client/${file}`))),
    ...parts.map(({ script }) => (script === undefined ? "" : `{\n${script}\n}`)),
    joinModules([asset("client/live.js"), asset("client/stored.js")]),
  ].join("\n");

type ShownCore = Pick<
  ConsoleCore,
  "off" | "settings" | "untrustedProxies" | "traffic" | "dependencies" | "meter" | "legacyTroubles" | "keysAlone"
>;

/** The size of the cache against its bounds, and the lifetimes of its answers. */
const cacheSection = (cache: CacheView, stored: StoredView | undefined, now: Date): PageSection => ({
  order: 60,
  id: "cache",
  title: "Cache",
  about: "Answers in the memory of this gateway, and how long those of each endpoint hold.",
  content: html`${storedForm(stored, now)} ${cacheSize(cache, now)} ${lifetimesTable(cache)}`,
});

const cacheSize = ({ bytes: taken, bound, entries, evicted, shared, forFailureOnly }: CacheView, now: Date): Html => {
  const share = bound.bytes === 0 ? 0 : taken / bound.bytes;
  const tier = shared === undefined ? "" : `; the shared tier is ${shared}`;
  // Redis was unreachable, and an invalidation may have been missed.
  const doubt =
    forFailureOnly &&
    `; since ${timeOfDay(forFailureOnly.since, now)} ${counted(forFailureOnly.entries, "answer")} for legacy’s failure only`;
  return html`<p>
    <strong>${bytes(taken)}</strong> of ${bytes(bound.bytes)} ${fillBar(share, "of the room is taken")}
    <span class="where" data-for-failure="${forFailureOnly?.entries ?? 0}"
      >${counted(entries, "answer")}, ${formatNumber(evicted)} pushed out, of at most ${bytes(bound.entryBytes)}
      each${tier}${doubt ?? ""}</span
    >
  </p>`;
};

const lifetimesTable = ({ lifetimes }: CacheView): Html => {
  const heads = ["endpoint", "fresh", "stale", "stale if error", "404, 410", "412"];
  return html`<details class="lifetimes" data-key="lifetimes">
    <summary>How long answers hold</summary>
    <table>
      <thead>
        <tr>
          ${heads.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${Object.entries(lifetimes).map(lifetimesRow)}
      </tbody>
    </table>
  </details>`;
};

const lifetimesRow = ([endpoint, lifetimes]: [string, CacheView["lifetimes"][string]]): Html => {
  const { fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl } = lifetimes;
  const cells = [fresh, staleWhileRevalidate, staleIfError, notFoundTtl, preconditionTtl];
  return html`<tr data-key="${endpoint}">
    <th scope="row">${endpoint}</th>
    ${cells.map((lifetime) => html`<td>${lifetime ?? "–"}</td>`)}
  </tr>`;
};

/** The most proxies that the page names: any client may send forwarded headers. */
const MAX_NAMED = 3;

const noticesOf = ({ untrustedProxies }: Pick<ConsoleCore, "untrustedProxies">): Html[] =>
  untrustedProxies
    .list()
    .slice(0, MAX_NAMED)
    .map(
      ({ address, requests }) =>
        html`<code>${address}</code> sent forwarded headers in ${counted(requests, "request")}, and is not trusted: all
          callers behind it look like one. If it is your proxy, set <code>TRUSTED_PROXIES=${address}</code>, or its
          network.`,
    );

const offSection = ({ setting, effect, section: about }: WhenOff): PageSection[] => {
  if (about === undefined) return [];
  const content = html`<p class="none" data-off="${setting}"><code>${setting}</code> is not set: ${effect}.</p>`;
  return [{ ...about, order: 100, isEmpty: true, content }];
};

type Rendering = { now: Date; query: URLSearchParams; address: string; about: Html; stored: StoredView | undefined };

/** The page is complete without a script; the script keeps the regions marked `data-live` up to date. */
const contentOf = (
  core: ShownCore,
  cacheView: () => CacheView,
  parts: readonly PagePart[],
  { now, query, address, about, stored }: Rendering,
): { title: string; content: Html } => {
  const shown = parts.map((part) => part.show(now, query, address));
  const own = { redis: html`Repair Redis; nothing has to be pressed here. <a href="#cache">The cache</a>` };
  const remedies = Object.assign(own, ...shown.map((part) => part.remedies)) as Record<string, Html>;
  const urls = Object.assign({ legacy: core.settings.LEGACY_URL }, ...shown.map((part) => part.urls)) as Record<
    string,
    string
  >;
  const facts = shown.flatMap((part) => part.facts ?? []);
  const interfaces = interfacesOf(core);
  const view = cacheView();
  const sections = [
    trafficSection({ traffic: core.traffic, shared: view.shared }, interfaces, facts, address),
    cacheSection(view, stored, now),
    ...core.off.flatMap(offSection),
    ...shown.flatMap((part) => part.sections),
  ].toSorted((a, b) => a.order - b.order);
  const troubles = [...causesOf(core, remedies), ...shown.flatMap((part) => part.troubles ?? [])];
  const notices = [...noticesOf(core), ...shown.flatMap((part) => part.notices ?? [])];
  const alone = core.keysAlone();
  const sentence = shown.findLast((part) => part.calm !== undefined)?.calm ?? calmSentence(core);
  const calm = alone === undefined ? sentence : html`${sentence}; ${alone.calm}`;
  const { failedUntil } = shown.findLast((part) => part.failedUntil !== undefined) ?? {};
  const head = headline(core.traffic, { troubles, calm, failedUntil }, now);
  const content = html`${skipLink(sections[0])}
    <header id="overview" data-live>
      <details data-key="addresses">
        <summary>
          catalog-gateway ${buildInfo().labels["version"]}, as of
          <time datetime="${now.toISOString()}">${secondOfDay(now.toISOString())}</time>
        </summary>
        <p class="where">
          ${about}${Object.entries(urls).map(([name, url]) => html`, ${name} at <code>${url}</code>`)}
        </p>
      </details>
      ${lightsBar(core, now)} ${head.content}
      ${notices.map((notice) => html`<p class="notice" role="note">${notice}</p>`)}
    </header>
    ${connection()}
    <nav class="contents" id="contents" data-live aria-label="Sections">
      <ul>
        ${sections.map(contentsItem)}
      </ul>
    </nav>
    <main id="main" data-live>${sections.map(section)}</main>`;
  return { title: head.title, content };
};

const skipLink = ({ id, title }: Pick<PageSection, "id" | "title"> = { id: "main", title: "content" }): Html =>
  html`<a class="skip" href="#${id}">Skip to the ${title.toLowerCase()}</a>`;

const connection = (): Html =>
  html`<div class="connection where">
    <p id="connection" role="status">
      <noscript>Without a script this page shows one moment: reload it to see the next.</noscript>
    </p>
    <button type="button" id="sign-out" class="scripted" hidden>Sign out</button>
  </div>`;

const contentsItem = (shown: PageSection): Html =>
  html`<li>
    <a href="#${shown.id}">${titleOf(shown)}</a>
  </li>`;

const signInForm = (): Html =>
  html`<main class="sign-in">
    <form id="sign-in" autocomplete="off">
      <h1>Gateway</h1>
      <p class="about">
        This gateway’s operators have a token, <code>ADMIN_TOKEN</code>. It is kept for this tab alone.
      </p>
      <p class="scripted">
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autocomplete="current-password" />
      </p>
      <p class="trouble" role="alert"></p>
      <p class="scripted"><button type="submit" class="main">Sign in</button></p>
      <noscript>
        <p class="about">
          Signing in needs a script. Without one: <code>curl -H "Authorization: Bearer $ADMIN_TOKEN"</code> and this
          address.
        </p>
      </noscript>
    </form>
  </main>`;
