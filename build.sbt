// SPDX-License-Identifier: Apache-2.0
//
// Two modules and one jar: `core` (plain Scala, no Spark on its class path) and `spark` (the
// Catalyst extension); beside them `bench`, which measures the core. Spark comes as the jars of the pinned pyspark wheel: what we compile
// against is what users run. `./sbt` passes their folder in.

val sparkJars = sys.props
  .get("plait.spark.jars")
  .map(file)
  .filter(_.isDirectory)
  .getOrElse(
    sys.error(
      "plait.spark.jars is not set; start the build with ./sbt, which finds or installs pyspark"
    )
  )

ThisBuild / version := IO.read(file("VERSION")).trim
ThisBuild / organization := "io.plait"
ThisBuild / scalaVersion := "2.13.18" // the version that Spark 4.3.0 ships
ThisBuild / semanticdbEnabled := true
ThisBuild / semanticdbVersion := "4.14.2" // the newest that knows Scala 2.13.18
ThisBuild / licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0"))

// Two JVMs of suites run side by side.
Global / concurrentRestrictions := Seq(Tags.limitAll(2), Tags.limit(Tags.ForkedTestGroup, 2))

val munit = Seq(
  "org.scalameta" %% "munit" % "1.2.1" % Test,
  "org.scalameta" %% "munit-scalacheck" % "1.2.0" % Test
)

val strict = Seq(
  "-deprecation",
  "-feature",
  "-unchecked",
  "-Wunused",
  "-Wdead-code",
  "-Wvalue-discard",
  "-Xlint:-byname-implicit,-infer-any,_",
  "-Xsource:3",
  "-release:17"
)

val common = Seq(
  Compile / scalacOptions ++= strict :+ "-Werror",
  Test / scalacOptions ++= strict,
  Compile / console / scalacOptions ~= (_.filterNot(_ == "-Werror")),
  libraryDependencies ++= munit,
  Test / fork := true,
  // Groups of suites side by side, each JVM one suite after the other.
  Test / testForkedParallel := false,
  Test / parallelExecution := true,
  Test / baseDirectory := (ThisBuild / baseDirectory).value
)

lazy val core = (project in file("jvm/core")).settings(common, name := "plait-core")

// Java 17 hides what Spark reaches into; the same list as Spark's own launcher.
val sparkOpens = Seq(
  "java.base/java.lang",
  "java.base/java.lang.invoke",
  "java.base/java.lang.reflect",
  "java.base/java.io",
  "java.base/java.net",
  "java.base/java.nio",
  "java.base/java.util",
  "java.base/java.util.concurrent",
  "java.base/java.util.concurrent.atomic",
  "java.base/jdk.internal.ref",
  "java.base/sun.nio.ch",
  "java.base/sun.nio.cs",
  "java.base/sun.security.action",
  "java.base/sun.util.calendar"
).map(p => s"--add-opens=$p=ALL-UNNAMED")

/** A JVM that lives for seconds: its code is never hot enough to pay for the optimizing compiler. */
val quickStart = "-XX:TieredStopAtLevel=1"

lazy val spark = (project in file("jvm/spark"))
  .dependsOn(core % "compile->compile;test->test")
  .settings(
    common,
    name := "plait-spark",
    // Only javac may extend a class that Scala seals (see PlaitJoinHint).
    compileOrder := CompileOrder.JavaThenScala,
    Compile / unmanagedJars ++= (sparkJars ** "*.jar").classpath,
    Test / javaOptions ++= sparkOpens ++ Seq(
      "-Xmx2g",
      quickStart,
      "-XX:ReservedCodeCacheSize=256m", // that compiler alone has 48 MB, which all suites together fill
      "-XX:+UseSerialGC",
      "-XX:+IgnoreUnrecognizedVMOptions",
      "-Dio.netty.tryReflectionSetAccessible=true",
      s"-Dplait.version=${version.value}"
    ),
    // The laws take as long as all other suites together: JVMs of their own. Those go through the same code for minutes,
    // and take half the time with the optimizing compiler. The other suites are two groups, by their packages, that end together.
    Test / testGrouping := {
      val options = (Test / forkOptions).value
      def of(name: String) =
        if (name.startsWith("laws"))
          options.withRunJVMOptions(options.runJVMOptions.filterNot(_ == quickStart))
        else options
      def group(suite: String) =
        if (suite.endsWith("OperationLaws") || suite.endsWith("CastLaws")) "laws of operations"
        else if (suite.endsWith("Laws")) "laws"
        else if (suite.count(_ == '.') > 2) "suites of the endpoint and of planning"
        else "suites"
      (Test / definedTests).value
        .groupBy(suite => group(suite.name))
        .toSeq
        .map { case (name, suites) => Tests.Group(name, suites, Tests.SubProcess(of(name))) }
    }
  )

/** What single operations take, `./sbt bench/Jmh/run`, and what the core takes for a join,
  * `benchmarks/article`. No part of the jar, and of no test.
  */
lazy val bench = (project in file("jvm/bench"))
  .enablePlugins(JmhPlugin)
  .dependsOn(core)
  .settings(
    common,
    name := "plait-bench",
    publish / skip := true,
    run / fork := true,
    run / javaOptions ++= Seq("-Xmx2g", "-XX:+UseSerialGC")
  )

val jar = taskKey[File]("The one jar that the Python wheel carries: core and spark together.")

lazy val root = (project in file("."))
  .aggregate(core, spark)
  .settings(
    name := "plait",
    publish / skip := true,
    jar := {
      val target = baseDirectory.value / "python" / "plait" / "jars" / s"plait-${version.value}.jar"
      val classes = Seq(
        (core / Compile / packageBin / mappings).value,
        (spark / Compile / packageBin / mappings).value
      ).flatten
      val manifest = new java.util.jar.Manifest
      manifest.getMainAttributes.putValue("Implementation-Title", "plait")
      manifest.getMainAttributes.putValue("Implementation-Version", version.value)
      (target.getParentFile ** "*.jar").get.filter(_ != target).foreach(IO.delete)
      IO.jar(classes.filter(_._1.isFile), target, manifest, Some(0L))
      streams.value.log.info(s"wrote $target")
      target
    }
  )
